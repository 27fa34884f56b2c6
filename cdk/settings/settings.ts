/** One deployment after its settings are read: every default filled in, everything checked. Constructs take these. */

export interface Settings {
  /** Names the deployment and everything in it: `prod`. One stage serves one GitLab instance. */
  readonly stage: string;
  /** Absent: the account and region of whoever deploys. */
  readonly account: string | undefined;
  readonly region: string | undefined;
  readonly gitlab: GitLabSettings;
  /** How the relay reaches the admit function: its Function URL, or Lambda's Invoke API for private networks. */
  readonly admitRoute: AdmitRoute;
  readonly vpc: VpcSettings;
  readonly relay: RelaySettings;
  readonly webhooks: WebhooksSettings;
  readonly parameters: ParameterNames;
  readonly state: StateSettings;
  readonly alarms: AlarmSettings;
  /** Absent: there is no console. */
  readonly console: ConsoleSettings | undefined;
  readonly notices: NoticesSettings;
  /** What a job is charged that GitLab does not know any more. */
  readonly chargeUnknown: 'hold' | 'nothing';
  /** IANA zone in which the days of usage begin and end. */
  readonly usageZone: string;
  /** Days that logs are kept; one of the values that CloudWatch takes. */
  readonly logRetentionDays: number;
  /** Sets the controller to `dry_run` by itself when no relay has been heard for two minutes; needs its number. */
  readonly watchdog: boolean;
  /** The watchdog does so as well after a job that was admitted and that GitLab failed all the same. */
  readonly disarmAfterFailedJob: boolean;
  /** Custom metrics in CloudWatch. */
  readonly metrics: boolean;
  /** Traces in X-Ray. */
  readonly traces: boolean;
}

type AdmitRoute = 'url' | 'invoke';

/** GitLab's field numbers: a `FileDescriptorSet` that was read and found fit for a deployment. */
export interface DescriptorsSettings {
  readonly bytes: Uint8Array;
  /** 64 hex digits. */
  readonly sha256: string;
  /** `<sha256>.binpb` */
  readonly fileName: string;
  /** The GitLab they are of: `18.9`. Undefined: nobody noted it. */
  readonly version: string | undefined;
}

export interface GitLabSettings {
  /** No path and no trailing slash: `https://gitlab.example.com`. */
  readonly url: string;
  readonly descriptors: DescriptorsSettings;
  /** Begins every key of the table; never changes, even if the host is renamed. */
  readonly instance: string;
  /** `wss://kas.gitlab.example.com`, `grpcs://kas.gitlab.example.com:8150`. */
  readonly routerUrl: string;
  /** Number of the runner controller in GitLab. */
  readonly controllerId: number | undefined;
  /** Where GitLab's REST API can be called from: `vpc` puts the functions that ask it into the existing VPC. */
  readonly reachedFrom: 'internet' | 'vpc';
  /** Proxy for every call to GitLab and its job router, `http://proxy.example.com:3128`. */
  readonly proxyUrl: string | undefined;
  /** SSM parameter with the PEM text of a private authority that every program trusts for GitLab, in addition to public ones. */
  readonly caParameter: string | undefined;
}

export type VpcSettings = NewVpcSettings | ExistingVpcSettings;

/** Two public subnets in two zones, no NAT gateway, nothing may connect from outside. */
interface NewVpcSettings {
  readonly kind: 'new';
  /** `10.83.0.0/24` */
  readonly cidr: string;
}

/** Named by their ids, so that synth asks no account anything. */
export interface ExistingVpcSettings {
  readonly kind: 'existing';
  readonly id: string;
  /** At least two; `availabilityZones[i]` is the zone of `subnetIds[i]`. */
  readonly subnetIds: readonly string[];
  readonly availabilityZones: readonly string[];
  /** `true` where the subnets reach the internet by a gateway of their own rather than by NAT. */
  readonly assignPublicIp: boolean;
}

export interface RelaySettings {
  /** Relays that run at once, one per zone. Each further one adds conflicts on the counters. */
  readonly count: number;
  /** CPU units of Fargate: 1024 are one vCPU. */
  readonly cpu: number;
  readonly memoryMiB: number;
  /** A ready image, `registry/name@sha256:…`. Absent: built from relay/Dockerfile by whoever deploys. */
  readonly image: string | undefined;
  /** From question to answer. */
  readonly deadlineMs: number;
  /** The same for a job that waits for room. Absent: no longer. */
  readonly answerWithinMs?: number;
  /** What cost and capacity rules do while the ledger is out of reach. */
  readonly failurePolicy: 'admit' | 'reject';
}

/** What GitLab's job webhooks are made for. */
interface WebhooksSettings {
  /** Jobs that end a second, on an ordinary day at its busiest; bursts of ten times as many lose no webhook. */
  readonly jobsPerSecond: number;
}

/** SSM parameters, all SecureStrings that an administrator puts there; Tollgate never creates or prints one. */
export interface ParameterNames {
  /** The controller's `glrct-` token. */
  readonly routerToken: string;
  /** A token that reads jobs and runners of the whole instance. */
  readonly gitlabToken: string;
  /** An administrator's token of scope `api`, for the watchdog alone. */
  readonly controllerToken: string;
  /** Signing tokens of the job webhooks, one a line. */
  readonly webhookSecrets: string;
  /** Values of `X-Gitlab-Token` to take as well, one a line. Absent: only signatures are taken. */
  readonly webhookTokens: string | undefined;
  /** An administrator's token of scope `api`, for webhooks of new groups. Absent: none are made. */
  readonly hookToken: string | undefined;
  /** Path of the tokens of groups whose jobs are retried, `<path>/101`. Absent: no job is. */
  readonly requeueTokens: string | undefined;
  readonly noteTokens: string | undefined;
  /** Keys of signed links to requests, one a line. Absent: links are not signed. */
  readonly approvalKey: string | undefined;
  /** Incoming webhooks of Slack and Teams, one a line. Absent: owners are told by the topic alone. */
  readonly chatWebhooks: string | undefined;
  /** `user:password` for `gitlab.proxyUrl`. Absent: the proxy wants none. */
  readonly proxyCredentials: string | undefined;
  /** Secret of the application registered in GitLab for the console. */
  readonly signInSecret: string;
  /** An administrator's token of scope `read_api`, for the console alone: whose groups are whose. */
  readonly consoleToken: string;
  /** ARN of the customer key these parameters are encrypted with. Absent: the account's `aws/ssm`. */
  readonly keyArn: string | undefined;
}

/** Where people read and change limits, signed in with GitLab. */
export interface ConsoleSettings {
  /** As browsers reach it, without a path or slash at the end: `https://budget.example.com`. */
  readonly url: string;
  /** Id of the application registered in GitLab, whose redirect URL is `<url>/signin/callback`. */
  readonly clientId: string;
  /** Id of the application for terminals, which is not confidential; absent: nobody signs in from one. */
  readonly deviceClientId: string | undefined;
  /** Direct members of this group are admins of Tollgate. */
  readonly adminGroupId: number;
  /** Direct members of this group are finance. */
  readonly financeGroupId: number;
  /** From which role in a group somebody owns its limits. */
  readonly ownersFrom: 'maintainer' | 'owner';
  /** From which role somebody sees its figures. */
  readonly viewersFrom: 'guest' | 'reporter' | 'developer';
  /** Addresses or ranges of proxies in front of it; without them a proxy is counted as one visitor. */
  readonly trustedProxies: readonly string[];
}

/** Owners of limits are told what happened to them. Thresholds are told at once, and apart from this. */
interface NoticesSettings {
  /** Minutes between two looks, each of which tells an owner at most one message. 0: nobody is told. */
  readonly everyMinutes: number;
}

interface StateSettings {
  /** ARN of a customer key for the table. Absent: the account's key for DynamoDB. */
  readonly tableKeyArn: string | undefined;
  /** How long decisions are kept outside the table; 0: they are not. */
  readonly exportDays: number;
}

interface AlarmSettings {
  /** Get an e-mail that must be confirmed once. */
  readonly emails: readonly string[];
  /** HTTPS endpoints that take SNS messages, such as a chat's. */
  readonly webhooks: readonly string[];
  /** Topics that exist already and get every alarm as well. */
  readonly topicArns: readonly string[];
  /** Where people can open cdk/RUNBOOK.md, for links in alarms and on the dashboard. Absent: its name stands there. */
  readonly runbookUrl: string | undefined;
}
