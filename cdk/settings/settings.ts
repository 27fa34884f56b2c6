/** Formats and defaults of the settings that `props.ts` explains. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isZone } from '../../policies/limits/calendar.ts';
import { ANSWER_WITHIN_MS, DEADLINE_MS } from '../../relay/names.ts';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';

export const DEFAULT_STAGE = 'prod';
export const FARGATE_MEMORY_MIB = {
  256: [512, 1024, 2048],
  512: [1024, 2048, 3072, 4096],
  1024: [2048, 3072, 4096, 5120, 6144, 7168, 8192],
} as const;
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

/** Webhooks that GitLab sends for each job: it was created, waits, runs, has ended. */
const DELIVERIES_PER_JOB = 4;
/** A burst of this factor above the usual rate loses none. */
const BURST = 10;
/** From a delivery to its answer where the function has to start first, which in a burst each one does; 20 ms afterwards. */
const START_SECONDS = 0.5;

const JOBS_PER_SECOND = { min: 1, max: 250, fallback: 1 } as const;

/** Above this concurrency Lambda answers 429. GitLab repeats no webhook, and disables a hook after four such answers in a row. */
export const webhookConcurrency = (jobsPerSecond: number): number =>
  Math.ceil(jobsPerSecond * BURST * DELIVERIES_PER_JOB * START_SECONDS);

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
const addressRange = text(isAddressRange, 'an address or a range such as 10.0.0.0/8');
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
  descriptors: text(
    (value) => value !== '' && !value.includes('\0'),
    "the file with your GitLab's field numbers, such as gitlab.binpb, made by: tollgate gitlab descriptors --ref v18.9.0",
  ).transform((value, context) => {
    try {
      // Read as the relay will, so that no deployment begins whose relays could not speak to their GitLab.
      return readDeployableDescriptors(resolve(value));
    } catch (error) {
      const message = error instanceof Error ? error.message : 'the file is unusable';
      context.issues.push({ code: 'custom', input: value, message: message.replace(/^\[\w+\] /, '') });
      return z.NEVER;
    }
  }),
  instance: text(
    /^[A-Za-z0-9.:-]{1,100}$/,
    'a host name such as gitlab.example.com; it begins every key of the table',
  ).optional(),
  routerUrl: url(
    /^(?:wss|grpcs):$/,
    'wss:// or grpcs:// and the host of the job router, such as wss://kas.gitlab.example.com',
    (parsed) => parsed.hostname !== '' && hasNoPassword(parsed) && `${parsed.search}${parsed.hash}` === '',
  ).optional(),
  controllerId: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).optional(),
  reachedFrom: choice('internet', 'vpc').default('internet'),
  proxyUrl: url(
    /^https?:$/,
    'http:// or https:// and a host, without a password, such as http://proxy.example.com:3128',
    hasNoPassword,
  ).optional(),
  caParameter: parameter.optional(),
});

const vpc = section({
  cidr: text(isVpcRange, 'an IPv4 range between /16 and /26, such as 10.83.0.0/24').optional(),
  id: text(/^vpc-[0-9a-f]{8,17}$/, 'the id of a VPC, such as vpc-0a1b2c3d4e5f60718').optional(),
  subnetIds: list(
    text(/^subnet-[0-9a-f]{8,17}$/, 'the id of a subnet, such as subnet-0a1b2c3d4e5f60718'),
    'ids of subnets',
  ).optional(),
  availabilityZones: list(
    text(/^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$/, 'an availability zone such as eu-central-1a'),
    'availability zones',
  ).optional(),
  assignPublicIp: flag.optional(),
});

const relay = section({
  count: integer({ min: 1, max: 4 }).default(2),
  cpu: choice(256, 512, 1024).default(256),
  memoryMiB: z.number({ error: 'expected a number of MiB' }).optional(),
  architecture: choice('arm64', 'amd64').default('arm64'),
  image: text(
    /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+@sha256:[0-9a-f]{64}|@sha256:[0-9a-f]{64}|:[\w.-]+)$/,
    'registry/name with a tag or, better, a digest, such as registry.example.com/tollgate/relay@sha256:…',
  ).optional(),
  deadlineMs: integer(DEADLINE_MS).default(DEADLINE_MS.fallback),
  answerWithinMs: integer(ANSWER_WITHIN_MS).optional(),
  failurePolicy: choice('admit', 'reject').default('admit'),
});

const parameters = section({
  routerToken: parameter.optional(),
  gitlabToken: parameter.optional(),
  controllerToken: parameter.optional(),
  webhookSecrets: parameter.optional(),
  webhookTokens: parameter.optional(),
  hookToken: parameter.optional(),
  requeueTokens: parameter.optional(),
  noteTokens: parameter.optional(),
  approvalKey: parameter.optional(),
  chatWebhooks: parameter.optional(),
  proxyCredentials: parameter.optional(),
  signInSecret: parameter.optional(),
  consoleToken: parameter.optional(),
  keyArn: keyArn.optional(),
});

const console = section({
  url: origin('an https:// address without a path or a "/" at the end, such as https://budget.example.com'),
  clientId: clientId,
  deviceClientId: clientId.optional(),
  adminGroupId: groupId,
  financeGroupId: groupId,
  ownersFrom: choice('maintainer', 'owner').default('maintainer'),
  viewersFrom: choice('guest', 'reporter', 'developer').default('developer'),
  trustedProxies: list(addressRange, 'ranges').default([]),
});

export const SETTINGS = section({
  stage: text(/^[a-z][a-z0-9-]{0,19}$/, 'up to 20 lower case letters, digits and "-", such as prod').default(
    'prod',
  ),
  account: text(/^\d{12}$/, 'the 12 digits of an account, in quotes').optional(),
  region: text(/^[a-z]{2,4}(-[a-z]+)+-\d+$/, 'a region such as eu-central-1').optional(),
  gitlab,
  admitRoute: choice('url', 'invoke').default('url'),
  rollout: choice('canary', 'all-at-once').default('canary'),
  edge: section({
    certificateArn: text(
      /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
      'the ARN of a certificate in ACM, such as arn:aws:acm:eu-central-1:111122223333:certificate/…',
    ),
    webhooksDomain: text(/^(?:[a-z\d-]{1,63}\.)+[a-z]{2,63}$/, 'a domain such as tollgate-hooks.example.com'),
    allowFrom: list(addressRange, 'ranges')
      .refine(({ length }) => length > 0, { error: 'it would let nobody in; name a range, or leave it away' })
      .optional(),
    vpcEndpointId: text(
      /^vpce-[0-9a-f]{8,17}$/,
      'the id of a VPC endpoint, such as vpce-0a1b2c3d4e5f60718',
    ).optional(),
  }).optional(),
  vpc: vpc.prefault({}),
  relay: relay.prefault({}),
  webhooks: section({
    jobsPerSecond: integer(JOBS_PER_SECOND).default(JOBS_PER_SECOND.fallback),
  }).prefault({}),
  parameters: parameters.prefault({}),
  state: section({
    tableKeyArn: keyArn.optional(),
    exportDays: integer({ min: 0, max: 90 }).default(90),
  }).prefault({}),
  alarms: section({
    emails: list(text(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'), 'e-mail addresses').default([]),
    webhooks: list(httpsUrl, 'addresses').default([]),
    topicArns: list(
      text(
        /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/,
        'the ARN of an SNS topic, such as arn:aws:sns:eu-central-1:111122223333:on-call',
      ),
      'ARNs of topics',
    ).default([]),
    runbookUrl: httpsUrl.optional(),
  }).prefault({}),
  console: console.optional(),
  notices: section({
    everyMinutes: integer({ min: 0, max: 1_440 }).default(15),
  }).prefault({}),
  chargeUnknown: choice('hold', 'nothing').default('nothing'),
  usageZone: text(isZone, 'an IANA zone such as Europe/Berlin').default('UTC'),
  logRetentionDays: choice(...RETENTION_DAYS).default(30),
  watchdog: flag.default(false),
  disarmAfterFailedJob: flag.default(false),
  metrics: flag.default(true),
  traces: flag.default(false),
});
