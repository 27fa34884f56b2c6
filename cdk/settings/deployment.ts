/**
 * What `tollgate.config.ts` says. Everything but the stage and GitLab's address has a default; `settings.ts` explains
 * each setting, `read-settings.ts` has the defaults and what is refused.
 */
export interface Deployment {
  /** Names the deployment and everything in it; lower case letters, digits, `-`. Never change it later. */
  readonly stage: string;
  /** @default the account and region of whoever deploys */
  readonly account?: string;
  readonly region?: string;
  readonly gitlab: {
    /** `https://gitlab.example.com` */
    readonly url: string;
    /**
     * The field numbers of this GitLab's version, as `npm run proto:sync` fetches them: a file, relative to the repository's
     * root. The relays take them along; the placeholder of this repository is refused. "Upgrading GitLab" in RUNBOOK.md.
     */
    readonly descriptors: string;
    /**
     * Begins every key of the table, for ever: when the host is renamed, write the old one here. Functions refuse a table that has
     * books of other names only. @default the host of `url`
     */
    readonly instance?: string;
    /** GitLab tells it as `kas.externalUrl` in `/api/v4/metadata`. @default `wss://kas.<host of url>` */
    readonly routerUrl?: string;
    /**
     * Number of the runner controller. The watchdog needs it, and a controller with the scope of single runners: jobs of all
     * others are then out of scope, and no bypass.
     */
    readonly controllerId?: number;
    /**
     * `vpc`: only from inside the existing VPC, whose subnets are then private ones with NAT or endpoints: "A network without a way
     * out" in RUNBOOK.md. @default 'internet'
     */
    readonly reachedFrom?: 'internet' | 'vpc';
    /**
     * Relays and functions call GitLab through it: `http://proxy.example.com:3128`. Its password belongs into
     * `parameters.proxyCredentials`. @default none
     */
    readonly proxyUrl?: string;
    /**
     * SSM parameter with the PEM text of a private authority that signed the certificates of GitLab and its job router.
     * @default public certificate authorities only
     */
    readonly caParameter?: string;
  };
  /** `invoke` where the relay's subnets reach Lambda's API but no public addresses. @default 'url' */
  readonly admitRoute?: 'url' | 'invoke';
  /** @default a new VPC, `10.83.0.0/24` */
  readonly vpc?:
    | { readonly cidr: string }
    | {
        readonly id: string;
        readonly subnetIds: readonly string[];
        /** The zone of each subnet, in the same order. */
        readonly availabilityZones: readonly string[];
        /** For public subnets. Not with `gitlab.reachedFrom: 'vpc'`: functions get no public address. @default false */
        readonly assignPublicIp?: boolean;
      };
  readonly relay?: {
    /** @default 2 */
    readonly count?: number;
    /** @default 256 */
    readonly cpu?: number;
    /** @default 512 */
    readonly memoryMiB?: number;
    /** @default built from relay/Dockerfile */
    readonly image?: string;
    /** @default 2000 */
    readonly deadlineMs?: number;
    /** For jobs that wait for room, at most 25000: what the router bears, as far as you have measured it. @default deadlineMs */
    readonly answerWithinMs?: number;
    /** @default 'admit' */
    readonly failurePolicy?: 'admit' | 'reject';
  };
  readonly webhooks?: {
    /**
     * Jobs that end a second, on an ordinary day at its busiest. Bursts of ten times as many lose no webhook; Lambda keeps 20 runs at
     * once for each. @default 1
     */
    readonly jobsPerSecond?: number;
  };
  /** Names, never values. */
  readonly parameters?: {
    /** @default `/tollgate/<stage>/router-token` */
    readonly routerToken?: string;
    /** @default `/tollgate/<stage>/gitlab-token` */
    readonly gitlabToken?: string;
    /** For the watchdog. @default `/tollgate/<stage>/controller-token` */
    readonly controllerToken?: string;
    /** @default `/tollgate/<stage>/webhook-secrets` */
    readonly webhookSecrets?: string;
    /** For GitLab 18.9 to 18.11, which cannot sign: the webhook's secret tokens, one a line. @default none: only signed webhooks are taken */
    readonly webhookTokens?: string;
    /**
     * An administrator's token of scope `api`, with which the listing of groups gives new top-level groups their webhook.
     * @default none: groups without one are reported
     */
    readonly hookToken?: string;
    /**
     * Path of the tokens of groups whose jobs are retried when a slot is free, one parameter each, named by the group's id:
     * `/tollgate/prod/requeue`. @default none: no job is retried, and nothing is deployed for it
     */
    readonly requeueTokens?: string;
    /**
     * Path of the tokens of groups in whose merge requests is written what became of a request for more, one parameter each, named by
     * the group's id: `/tollgate/prod/notes`. @default none: nothing is written in any merge request
     */
    readonly noteTokens?: string;
    /** Signs links with which owners and finance come to a request that waits, in mail and chat. @default none: links are not signed */
    readonly approvalKey?: string;
    /**
     * Incoming webhooks of Slack and Teams, in which owners are told what they are mailed: `#ci-budget slack https://…`, one a line.
     * @default none
     */
    readonly chatWebhooks?: string;
    /** `user:password` for `gitlab.proxyUrl`. @default none: the proxy wants none */
    readonly proxyCredentials?: string;
    /** For the console. @default `/tollgate/<stage>/signin-secret` */
    readonly signInSecret?: string;
    /** For the console. @default `/tollgate/<stage>/console-token` */
    readonly consoleToken?: string;
    /** @default the account's own key, `aws/ssm` */
    readonly keyArn?: string;
  };
  readonly state?: {
    /** @default the account's own key, `aws/dynamodb` */
    readonly tableKeyArn?: string;
    /**
     * Days that decisions, limits and their log are archived outside the table, in a bucket of their own.
     * At most 90; 0: they are in the table alone. @default 90
     */
    readonly exportDays?: number;
  };
  readonly alarms?: {
    readonly emails?: readonly string[];
    readonly webhooks?: readonly string[];
    readonly topicArns?: readonly string[];
    /** URL of cdk/RUNBOOK.md in your repository, for links from alarms. @default none */
    readonly runbookUrl?: string;
  };
  /** @default no console */
  readonly console?: {
    /**
     * `https://budget.example.com`: a domain of yours in front of the address that the deployment prints as `ConsoleUrl`, or,
     * after a first deployment, that address itself without its "/". GitLab sends people back to `<url>/signin/callback`.
     */
    readonly url: string;
    /** Id of the application registered in GitLab. */
    readonly clientId: string;
    /** Id of a second application, not confidential, for `tollgate login`. @default nobody signs in from a terminal */
    readonly deviceClientId?: string;
    /** Id of the group whose direct members are admins of Tollgate. */
    readonly adminGroupId: number;
    /** Id of the group whose direct members are finance. */
    readonly financeGroupId: number;
    /** @default 'maintainer' */
    readonly ownersFrom?: 'maintainer' | 'owner';
    /** @default 'developer' */
    readonly viewersFrom?: 'guest' | 'reporter' | 'developer';
    /** Addresses or ranges of proxies in front of the console, whose `X-Forwarded-For` is believed. @default none */
    readonly trustedProxies?: readonly string[];
  };
  readonly notices?: {
    /** Between two messages to an owner; 0 sends none. @default 15 */
    readonly everyMinutes?: number;
  };
  /** @default 'nothing' */
  readonly chargeUnknown?: 'hold' | 'nothing';
  /** The accounting zone, in which days of usage and months of statements begin and end. @default 'UTC' */
  readonly usageZone?: string;
  /** @default 30 */
  readonly logRetentionDays?: number;
  /** Needs `gitlab.controllerId`. @default false */
  readonly watchdog?: boolean;
  /**
   * The watchdog also disarms after the first job that was admitted here and that GitLab failed all the same. Needs `watchdog`.
   * @default false
   */
  readonly disarmAfterFailedJob?: boolean;
  /** @default true */
  readonly metrics?: boolean;
  /** @default false */
  readonly traces?: boolean;
}
