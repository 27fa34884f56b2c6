/** One Tollgate for one GitLab instance: all settings, with their defaults. `settings.ts` checks them. */
export interface Deployment {
  /** Names the deployment and everything in it; lower case letters, digits, `-`. Never change it later. @default 'prod' */
  readonly stage?: string;
  /** @default those of the stage or of the deploying user */
  readonly account?: string;
  readonly region?: string;
  readonly gitlab: {
    readonly url: string;
    /**
     * File with the field numbers of this GitLab's version, as `tollgate gitlab descriptors` fetches them, relative to the current folder.
     * The relays take it along; the placeholder of this repository is refused. "Upgrading GitLab" in RUNBOOK.md.
     */
    readonly descriptors: string;
    /** Begins every key of the table, for ever: if the host is renamed, write the old one here. @default the host of `url` */
    readonly instance?: string;
    /** `kas.externalUrl` in GitLab's `/api/v4/metadata`. @default `wss://kas.<host of url>` */
    readonly routerUrl?: string;
    /** Number of the runner controller, for the watchdog and for a scope of single runners: other jobs are then no bypass. */
    readonly controllerId?: number;
    /**
     * `vpc`: GitLab is reached only from private subnets of the existing VPC: "A network without a way out" in RUNBOOK.md.
     *
     * @default 'internet'
     */
    readonly reachedFrom?: 'internet' | 'vpc';
    /** Proxy for every call to GitLab and its job router. Its password belongs into `parameters.proxyCredentials`. @default none */
    readonly proxyUrl?: string;
    /** SSM parameter with the PEM text of a private authority for GitLab and its job router. @default public authorities only */
    readonly caParameter?: string;
  };
  /** `invoke` where the relay's subnets reach Lambda's API but no public addresses. @default 'url' */
  readonly admitRoute?: 'url' | 'invoke';
  /**
   * New versions of admit, of the receiver of webhooks and of the console get a tenth of the calls for five minutes, and are taken back by
   * alarms; or all calls immediately: "A rollout that was taken back" in RUNBOOK.md.
   *
   * @default 'canary'
   */
  readonly rollout?: 'canary' | 'all-at-once';
  /**
   * Domains of your own for webhooks and console, instead of Function URLs: an API with your certificate, which can be closed to
   * addresses, or to a VPC: "Domains of your own" in docs/platform.md.
   *
   * @default Function URLs
   */
  readonly edge?: {
    /** ARN of a certificate of the region, in ACM, for both domains. */
    readonly certificateArn: string;
    /** `tollgate-hooks.example.com`. The console's is the host of `console.url`. */
    readonly webhooksDomain: string;
    /** Addresses or ranges that may call: GitLab's, and those of the console's users. @default all */
    readonly allowFrom?: readonly string[];
    /** Id of a VPC endpoint for `execute-api`, through which alone webhooks and users come. @default from the internet */
    readonly vpcEndpointId?: string;
  };
  /** A new VPC needs at most `cidr`; the other fields name an existing one by ids, so that synth asks no account anything. */
  readonly vpc?: {
    /** Range of a new VPC: two public subnets in two zones, no NAT gateway. @default `10.83.0.0/24` */
    readonly cidr?: string;
    readonly id?: string;
    readonly subnetIds?: readonly string[];
    /** The zone of each subnet, in the same order; at least two. */
    readonly availabilityZones?: readonly string[];
    /** For public subnets. Not with `gitlab.reachedFrom: 'vpc'`: functions get no public address. @default false */
    readonly assignPublicIp?: boolean;
  };
  readonly relay?: {
    /** Number of relays, one per zone. Each one adds conflicts on counters. @default 2 */
    readonly count?: number;
    /** CPU units of Fargate: 1024 are one vCPU. @default 256 */
    readonly cpu?: 256 | 512 | 1024;
    /** @default the smallest that Fargate allows for `cpu` */
    readonly memoryMiB?: number;
    /** Kind of processor; `amd64` costs a quarter more. A ready image must be made for it. @default 'arm64' */
    readonly architecture?: 'arm64' | 'amd64';
    /** A ready image, `registry/name@sha256:…`. @default built from relay/Dockerfile */
    readonly image?: string;
    /** From admission request to response. @default 2000 */
    readonly deadlineMs?: number;
    /** The same for jobs that wait for headroom: as long as you measured the router to wait. @default deadlineMs */
    readonly answerWithinMs?: number;
    /** Decision of cost and capacity rules while the ledger is unreachable. @default 'admit' */
    readonly failurePolicy?: 'admit' | 'reject';
  };
  readonly webhooks?: {
    /**
     * Jobs that end a second at the busiest time. A burst of ten times as many loses no webhook; each reserves 20 runs.
     *
     * @default 1
     */
    readonly jobsPerSecond?: number;
  };
  /** Names of SSM SecureStrings. An administrator stores the values; Tollgate never creates or prints one. */
  readonly parameters?: {
    /** The controller's `glrct-` token. @default `/tollgate/<stage>/router-token` */
    readonly routerToken?: string;
    /** A token that reads jobs and runners of the whole instance. @default `/tollgate/<stage>/gitlab-token` */
    readonly gitlabToken?: string;
    /** An administrator's token of scope `api`, for the watchdog. @default `/tollgate/<stage>/controller-token` */
    readonly controllerToken?: string;
    /** Signing tokens of the job webhooks, one a line. @default `/tollgate/<stage>/webhook-secrets` */
    readonly webhookSecrets?: string;
    /**
     * For GitLab 18.9 to 18.11, which cannot sign: the webhook's secret tokens, one a line.
     *
     * @default none: only signed webhooks are taken
     */
    readonly webhookTokens?: string;
    /**
     * An administrator's token of scope `api` that gives new groups their webhook.
     *
     * @default none: groups without one are reported
     */
    readonly hookToken?: string;
    /**
     * Path of the tokens of groups whose jobs are retried when a slot is free, one parameter each, named by the group's id:
     * `/tollgate/prod/requeue`. @default none: no job is retried, and nothing is deployed for it
     */
    readonly requeueTokens?: string;
    /**
     * Path of the tokens of groups in whose merge requests the outcome of a request for more is written, one parameter each,
     * named by the group's id: `/tollgate/prod/notes`. @default none: nothing is written in any merge request
     */
    readonly noteTokens?: string;
    /** Keys, one a line, that sign links to pending requests in mail and chat. @default none: links are not signed */
    readonly approvalKey?: string;
    /** Incoming webhooks of Slack and Teams for notices to owners: `#ci-budget slack https://…`, one a line. @default none */
    readonly chatWebhooks?: string;
    /** `user:password` for `gitlab.proxyUrl`. @default none: the proxy wants none */
    readonly proxyCredentials?: string;
    /** Secret of the application registered in GitLab for the console. @default `/tollgate/<stage>/signin-secret` */
    readonly signInSecret?: string;
    /** An administrator's token of scope `read_api`, for the console alone. @default `/tollgate/<stage>/console-token` */
    readonly consoleToken?: string;
    /** ARN of the customer key of these parameters. @default the account's own key, `aws/ssm` */
    readonly keyArn?: string;
  };
  readonly state?: {
    /** ARN of a customer key for the table. @default the account's own key, `aws/dynamodb` */
    readonly tableKeyArn?: string;
    /**
     * Days that decisions, limits and their log are archived outside the table, as long as records name the user. 0: no export.
     *
     * @default 90
     */
    readonly exportDays?: number;
  };
  readonly alarms?: {
    /** Get an e-mail that must be confirmed once. @default [] */
    readonly emails?: readonly string[];
    /** HTTPS endpoints that take SNS messages, such as a chat's. @default [] */
    readonly webhooks?: readonly string[];
    /** Topics that exist already and get every alarm as well. @default [] */
    readonly topicArns?: readonly string[];
    /** URL of cdk/RUNBOOK.md in your repository, for links from alarms. @default none */
    readonly runbookUrl?: string;
  };
  readonly console?: {
    /**
     * `https://budget.example.com`: a domain of yours in front of the address that the deployment prints as `ConsoleUrl`, or,
     * after a first deployment, that address itself without its "/". GitLab sends users back to `<url>/signin/callback`.
     */
    readonly url: string;
    readonly clientId: string;
    /** Id of a second, non-confidential application for `tollgate login`. @default no sign-in from terminals */
    readonly deviceClientId?: string;
    /** The groups whose direct members are admins and finance of Tollgate. */
    readonly adminGroupId: number;
    readonly financeGroupId: number;
    /** The lowest roles in a group that own its limits and see its figures. @default 'maintainer' */
    readonly ownersFrom?: 'maintainer' | 'owner';
    /** @default 'developer' */
    readonly viewersFrom?: 'guest' | 'reporter' | 'developer';
    /** Addresses or ranges of proxies in front of the console, whose `X-Forwarded-For` is believed. @default [] */
    readonly trustedProxies?: readonly string[];
  };
  readonly notices?: {
    /** Minutes between runs; each sends an owner at most one message. Threshold alerts are separate. 0: no notices. @default 15 */
    readonly everyMinutes?: number;
  };
  /** Charge of a job that GitLab no longer knows. @default 'nothing' */
  readonly chargeUnknown?: 'hold' | 'nothing';
  /** The accounting zone, in which days of usage and months of statements begin and end. @default 'UTC' */
  readonly usageZone?: string;
  /** A number that CloudWatch Logs has. @default 30 */
  readonly logRetentionDays?: number;
  /** Sets the controller to `dry_run` if no relay was heard for two minutes. Needs `gitlab.controllerId`. @default false */
  readonly watchdog?: boolean;
  /** The watchdog also disarms after the first job that was admitted here and that GitLab failed all the same. @default false */
  readonly disarmAfterFailedJob?: boolean;
  /** @default true */
  readonly metrics?: boolean;
  /** @default false */
  readonly traces?: boolean;
}
