/** All settings of a deployment: their formats, defaults and meanings. `tollgate.config.ts` holds `Deployment` values. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isZone } from '../../policies/limits/calendar.ts';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';
import { JOBS_PER_SECOND } from './webhook-concurrency.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const FARGATE_MEMORY_MIB = {
  256: [512, 1024, 2048],
  512: [1024, 2048, 3072, 4096],
  1024: [2048, 3072, 4096, 5120, 6144, 7168, 8192],
} as const;
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;
/** A relay's own bounds for its deadline and for jobs that wait for headroom. */
export const DEADLINE_MS = { min: 200, max: 10_000, fallback: 2_000 } as const;
export const WAITING_MS = { min: 200, max: 25_000 } as const;

/** A text that fits. `expected` ends the sentence "expected …" of the error. */
const text = (fits: RegExp | ((value: string) => boolean), expected: string) =>
  z
    .string({ error: `expected ${expected}` })
    .refine(fits instanceof RegExp ? (value) => fits.test(value) : fits, {
      error: `expected ${expected}`,
    });
const list = <T extends z.ZodType<string>>(item: T, expected: string) =>
  z.array(item, { error: `expected a list of ${expected}` }).readonly();
const integer = ({ min, max }: { readonly min: number; readonly max: number }) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};
const choice = <const T extends string | number>(...choices: readonly [T, ...T[]]) =>
  z.literal([...choices], { error: `expected one of ${choices.join(', ')}` });
const flag = z.boolean({ error: 'expected true or false' });
const section = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `there is no such setting; here are ${Object.keys(shape).join(', ')}`
        : `expected an object with ${Object.keys(shape).join(', ')}`,
  });

const url = (scheme: RegExp, expected: string, fits = (_: URL, __: string) => true) =>
  text((value) => {
    const parsed = URL.parse(value);
    return parsed !== null && scheme.test(parsed.protocol) && fits(parsed, value);
  }, expected);
const origin = (expected: string) => url(/^https:$/, expected, (parsed, value) => parsed.origin === value);
const hasNoPassword = ({ username, password }: URL): boolean => `${username}${password}` === '';
const isAddressRange = (value: string): boolean => {
  const [address = '', bits, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
};
/** From a /16 to a /26: two subnets must have addresses for a task while its successor starts. */
const isVpcRange = (value: string): boolean => {
  const [address = '', bits = ''] = value.split('/');
  return isIP(address) === 4 && /^(?:1[6-9]|2[0-6])$/.test(bits);
};

const httpsUrl = url(/^https:$/, 'an address that begins with https://');
const keyArn = text(
  /^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/,
  'the ARN of a KMS key, such as arn:aws:kms:eu-central-1:111122223333:key/…',
);
const parameter = text(
  /^(?:\/(?!aws\b|ssm\b)[\w.-]+)(?:\/[\w.-]+){0,14}$/,
  'the name of an SSM parameter, beginning with "/", such as /tollgate/prod/router-token',
);
const clientId = text(/^[\w-]{1,128}$/, 'the application id that GitLab shows for it, letters and digits');
const groupId = integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

const gitlab = section({
  url: origin('GitLab\'s address without a path or a "/" at the end, such as https://gitlab.example.com'),
  /**
   * File with the field numbers of this GitLab's version, as `npm run proto:sync` fetches them, relative to the repository's
   * root. The relays take it along; the placeholder of this repository is refused. "Upgrading GitLab" in RUNBOOK.md.
   */
  descriptors: text(
    (value) => value !== '' && !value.includes('\0'),
    "the file with your GitLab's field numbers, such as relay/wire/gitlab.binpb, made by: npm run proto:sync -- --ref v18.9.0",
  ).transform((value, context) => {
    try {
      // Read as the relay will, so that no deployment begins whose relays could not speak to their GitLab.
      return readDeployableDescriptors(resolve(root, value));
    } catch (error) {
      const message = error instanceof Error ? error.message : 'the file is unusable';
      context.issues.push({ code: 'custom', input: value, message: message.replace(/^\[\w+\] /, '') });
      return z.NEVER;
    }
  }),
  /** Begins every key of the table, for ever: if the host is renamed, write the old one here. @default the host of `url` */
  instance: text(
    /^[A-Za-z0-9.:-]{1,100}$/,
    'a host name such as gitlab.example.com; it begins every key of the table',
  ).optional(),
  /** `kas.externalUrl` in GitLab's `/api/v4/metadata`. @default `wss://kas.<host of url>` */
  routerUrl: url(
    /^(?:wss|grpcs):$/,
    'wss:// or grpcs:// and the host of the job router, such as wss://kas.gitlab.example.com',
    (parsed) => parsed.hostname !== '' && hasNoPassword(parsed) && `${parsed.search}${parsed.hash}` === '',
  ).optional(),
  /** Number of the runner controller, for the watchdog and for a scope of single runners: other jobs are then no bypass. */
  controllerId: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).optional(),
  /** `vpc`: GitLab is reached only from private subnets of the existing VPC: "A network without a way out" in RUNBOOK.md. */
  reachedFrom: choice('internet', 'vpc').default('internet'),
  /** Proxy for every call to GitLab and its job router. Its password belongs into `parameters.proxyCredentials`. @default none */
  proxyUrl: url(
    /^https?:$/,
    'http:// or https:// and a host, without a password, such as http://proxy.example.com:3128',
    hasNoPassword,
  ).optional(),
  /** SSM parameter with the PEM text of a private authority for GitLab and its job router. @default public authorities only */
  caParameter: parameter.optional(),
});

/** A new VPC needs at most `cidr`; the other fields name an existing one by ids, so that synth asks no account anything. */
const vpc = section({
  /** Range of a new VPC: two public subnets in two zones, no NAT gateway. @default `10.83.0.0/24` */
  cidr: text(isVpcRange, 'an IPv4 range between /16 and /26, such as 10.83.0.0/24').optional(),
  id: text(/^vpc-[0-9a-f]{8,17}$/, 'the id of a VPC, such as vpc-0a1b2c3d4e5f60718').optional(),
  subnetIds: list(
    text(/^subnet-[0-9a-f]{8,17}$/, 'the id of a subnet, such as subnet-0a1b2c3d4e5f60718'),
    'ids of subnets',
  ).optional(),
  /** The zone of each subnet, in the same order; at least two. */
  availabilityZones: list(
    text(/^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$/, 'an availability zone such as eu-central-1a'),
    'availability zones',
  ).optional(),
  /** For public subnets. Not with `gitlab.reachedFrom: 'vpc'`: functions get no public address. @default false */
  assignPublicIp: flag.optional(),
});

const relay = section({
  /** Number of relays, one per zone. Each one adds conflicts on counters. */
  count: integer({ min: 1, max: 4 }).default(2),
  /** CPU units of Fargate: 1024 are one vCPU. */
  cpu: choice(256, 512, 1024).default(256),
  /** @default the smallest that Fargate allows for `cpu` */
  memoryMiB: z.number({ error: 'expected a number of MiB' }).optional(),
  /** Kind of processor; `amd64` costs a quarter more. A ready image must be made for it. */
  architecture: choice('arm64', 'amd64').default('arm64'),
  /** A ready image, `registry/name@sha256:…`. @default built from relay/Dockerfile */
  image: text(
    /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+@sha256:[0-9a-f]{64}|@sha256:[0-9a-f]{64}|:[\w.-]+)$/,
    'registry/name with a tag or, better, a digest, such as registry.example.com/tollgate/relay@sha256:…',
  ).optional(),
  /** From admission request to response. */
  deadlineMs: integer(DEADLINE_MS).default(DEADLINE_MS.fallback),
  /** The same for jobs that wait for headroom: as long as you measured the router to wait. @default deadlineMs */
  answerWithinMs: integer(WAITING_MS).optional(),
  /** Decision of cost and capacity rules while the ledger is unreachable. */
  failurePolicy: choice('admit', 'reject').default('admit'),
});

/** Names of SSM SecureStrings. An administrator stores the values; Tollgate never creates or prints one. */
const parameters = section({
  /** The controller's `glrct-` token. @default `/tollgate/<stage>/router-token` */
  routerToken: parameter.optional(),
  /** A token that reads jobs and runners of the whole instance. @default `/tollgate/<stage>/gitlab-token` */
  gitlabToken: parameter.optional(),
  /** An administrator's token of scope `api`, for the watchdog. @default `/tollgate/<stage>/controller-token` */
  controllerToken: parameter.optional(),
  /** Signing tokens of the job webhooks, one a line. @default `/tollgate/<stage>/webhook-secrets` */
  webhookSecrets: parameter.optional(),
  /** For GitLab 18.9 to 18.11, which cannot sign: the webhook's secret tokens, one a line. @default none: only signed webhooks are taken */
  webhookTokens: parameter.optional(),
  /** An administrator's token of scope `api` that gives new groups their webhook. @default none: groups without one are reported */
  hookToken: parameter.optional(),
  /**
   * Path of the tokens of groups whose jobs are retried when a slot is free, one parameter each, named by the group's id:
   * `/tollgate/prod/requeue`. @default none: no job is retried, and nothing is deployed for it
   */
  requeueTokens: parameter.optional(),
  /**
   * Path of the tokens of groups in whose merge requests the outcome of a request for more is written, one parameter each,
   * named by the group's id: `/tollgate/prod/notes`. @default none: nothing is written in any merge request
   */
  noteTokens: parameter.optional(),
  /** Keys, one a line, that sign links to pending requests in mail and chat. @default none: links are not signed */
  approvalKey: parameter.optional(),
  /** Incoming webhooks of Slack and Teams for notices to owners: `#ci-budget slack https://…`, one a line. @default none */
  chatWebhooks: parameter.optional(),
  /** `user:password` for `gitlab.proxyUrl`. @default none: the proxy wants none */
  proxyCredentials: parameter.optional(),
  /** Secret of the application registered in GitLab for the console. @default `/tollgate/<stage>/signin-secret` */
  signInSecret: parameter.optional(),
  /** An administrator's token of scope `read_api`, for the console alone. @default `/tollgate/<stage>/console-token` */
  consoleToken: parameter.optional(),
  /** ARN of the customer key of these parameters. @default the account's own key, `aws/ssm` */
  keyArn: keyArn.optional(),
});

const console = section({
  /**
   * `https://budget.example.com`: a domain of yours in front of the address that the deployment prints as `ConsoleUrl`, or,
   * after a first deployment, that address itself without its "/". GitLab sends users back to `<url>/signin/callback`.
   */
  url: origin('an https:// address without a path or a "/" at the end, such as https://budget.example.com'),
  clientId: clientId,
  /** Id of a second, non-confidential application for `tollgate login`. @default no sign-in from terminals */
  deviceClientId: clientId.optional(),
  /** The groups whose direct members are admins and finance of Tollgate. */
  adminGroupId: groupId,
  financeGroupId: groupId,
  /** The lowest roles in a group that own its limits and see its figures. */
  ownersFrom: choice('maintainer', 'owner').default('maintainer'),
  viewersFrom: choice('guest', 'reporter', 'developer').default('developer'),
  /** Addresses or ranges of proxies in front of the console, whose `X-Forwarded-For` is believed. */
  trustedProxies: list(text(isAddressRange, 'an address or a range such as 10.0.0.0/8'), 'ranges').default(
    [],
  ),
});

export const SETTINGS = section({
  /** Names the deployment and everything in it; lower case letters, digits, `-`. Never change it later. */
  stage: text(/^[a-z][a-z0-9-]{0,19}$/, 'up to 20 lower case letters, digits and "-", such as prod'),
  /** @default account and region of the deploying user */
  account: text(/^\d{12}$/, 'the 12 digits of an account, in quotes').optional(),
  region: text(/^[a-z]{2,4}(-[a-z]+)+-\d+$/, 'a region such as eu-central-1').optional(),
  gitlab,
  /** `invoke` where the relay's subnets reach Lambda's API but no public addresses. */
  admitRoute: choice('url', 'invoke').default('url'),
  /**
   * New versions of admit, of the receiver of webhooks and of the console get a tenth of the calls for five minutes, and are taken back by
   * alarms; or all calls immediately: "A rollout that was taken back" in RUNBOOK.md.
   */
  rollout: choice('canary', 'all-at-once').default('canary'),
  vpc: vpc.prefault({}),
  relay: relay.prefault({}),
  webhooks: section({
    /** Jobs that end a second at the busiest time. A burst of ten times as many loses no webhook; each reserves 20 runs. */
    jobsPerSecond: integer(JOBS_PER_SECOND).default(JOBS_PER_SECOND.fallback),
  }).prefault({}),
  parameters: parameters.prefault({}),
  state: section({
    /** ARN of a customer key for the table. @default the account's own key, `aws/dynamodb` */
    tableKeyArn: keyArn.optional(),
    /** Days that decisions, limits and their log are archived outside the table, as long as records name the user. 0: no export. */
    exportDays: integer({ min: 0, max: 90 }).default(90),
  }).prefault({}),
  alarms: section({
    /** Get an e-mail that must be confirmed once. */
    emails: list(text(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'), 'e-mail addresses').default([]),
    /** HTTPS endpoints that take SNS messages, such as a chat's. */
    webhooks: list(httpsUrl, 'addresses').default([]),
    /** Topics that exist already and get every alarm as well. */
    topicArns: list(
      text(
        /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/,
        'the ARN of an SNS topic, such as arn:aws:sns:eu-central-1:111122223333:on-call',
      ),
      'ARNs of topics',
    ).default([]),
    /** URL of cdk/RUNBOOK.md in your repository, for links from alarms. @default none */
    runbookUrl: httpsUrl.optional(),
  }).prefault({}),
  console: console.optional(),
  notices: section({
    /** Minutes between runs; each sends an owner at most one message. Threshold alerts are separate. 0: no notices. */
    everyMinutes: integer({ min: 0, max: 1_440 }).default(15),
  }).prefault({}),
  /** Charge of a job that GitLab no longer knows. */
  chargeUnknown: choice('hold', 'nothing').default('nothing'),
  /** The accounting zone, in which days of usage and months of statements begin and end. */
  usageZone: text(isZone, 'an IANA zone such as Europe/Berlin').default('UTC'),
  logRetentionDays: choice(...RETENTION_DAYS).default(30),
  /** Sets the controller to `dry_run` if no relay was heard for two minutes. Needs `gitlab.controllerId`. */
  watchdog: flag.default(false),
  /** The watchdog also disarms after the first job that was admitted here and that GitLab failed all the same. */
  disarmAfterFailedJob: flag.default(false),
  metrics: flag.default(true),
  traces: flag.default(false),
});
