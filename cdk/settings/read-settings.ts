import { readDescriptors } from './read-descriptors.ts';
import { hasFunctionUrls, NO_FUNCTION_URLS } from './regions.ts';
import { Section, type SettingsReading } from './section.ts';
import type {
  ConsoleSettings,
  GitLabSettings,
  ParameterNames,
  RelaySettings,
  Settings,
  VpcSettings,
} from './settings.ts';
import * as shapes from './shapes.ts';
import { JOBS_PER_SECOND } from './webhooks-at-once.ts';

/** What Fargate offers for so many CPU units, MiB of memory: from, to, in steps of 1024 (512 for the smallest). */
const FARGATE_MEMORY_MIB: Readonly<Record<number, readonly number[]>> = {
  256: [512, 1024, 2048],
  512: [1024, 2048, 3072, 4096],
  1024: [2048, 3072, 4096, 5120, 6144, 7168, 8192],
};
/** Days that CloudWatch can keep logs, up to ten years. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];
/** Every further relay adds conflicts on the counters; more than this helps nobody. */
const RELAYS_MAX = 4;
const RELAYS = 2;
const DEFAULT_CIDR = '10.83.0.0/24';
/** A relay's own bounds for its deadline. */
export const DEADLINE_MS = { min: 200, max: 10_000, fallback: 2_000 } as const;
export const WAITING_MS = { min: 200, max: 25_000 } as const;

/** From no notices to one a day. */
const NOTICES_MINUTES = { min: 0, max: 1_440, fallback: 15 } as const;

/** From no export to as long as records say whose job it was. */
const EXPORT_DAYS = { min: 0, max: 90, fallback: 90 } as const;

/** As GitLab shows it on the group's page. The fallback is no id: whoever opens a console says who rules it. */
const GROUP_ID = { min: 1, max: Number.MAX_SAFE_INTEGER, fallback: 0 } as const;

/** One deployment, checked and with its defaults. Only of use if nothing was noted. */
export function readSettings(deployment: unknown, reading: SettingsReading): Settings {
  const read = new Section(deployment, '', reading);
  const stage = read.required('stage', shapes.STAGE);
  const vpc = readVpc(read.section('vpc'));
  const settings: Settings = {
    stage,
    account: read.optional('account', shapes.ACCOUNT),
    region: read.optional('region', shapes.REGION),
    gitlab: readGitLab(read.section('gitlab'), vpc),
    admitRoute: read.choice('admitRoute', ['url', 'invoke'], 'url'),
    vpc,
    relay: readRelay(read.section('relay')),
    webhooks: readWebhooks(read.section('webhooks')),
    parameters: readParameters(read.section('parameters'), stage),
    state: readState(read.section('state')),
    alarms: readAlarms(read.section('alarms')),
    console: read.has('console') ? readConsole(read.section('console')) : undefined,
    notices: readNotices(read.section('notices')),
    chargeUnknown: read.choice('chargeUnknown', ['hold', 'nothing'], 'nothing'),
    usageZone: read.optional('usageZone', shapes.TIME_ZONE) ?? 'UTC',
    logRetentionDays: read.choice('logRetentionDays', RETENTION_DAYS, 30),
    watchdog: read.flag('watchdog', false),
    disarmAfterFailedJob: read.flag('disarmAfterFailedJob', false),
    metrics: read.flag('metrics', true),
    traces: read.flag('traces', false),
  };
  if (settings.watchdog && settings.gitlab.controllerId === undefined) {
    read.mistake(
      'watchdog',
      'it changes the state of one controller: give its number in gitlab.controllerId, or set false',
    );
  }
  if (settings.disarmAfterFailedJob && !settings.watchdog)
    read.mistake('disarmAfterFailedJob', 'the watchdog does it: set watchdog: true as well, or false');
  if (settings.parameters.proxyCredentials !== undefined && settings.gitlab.proxyUrl === undefined)
    read.mistake('parameters', 'proxyCredentials is for a proxy: name it in gitlab.proxyUrl');
  if (settings.region !== undefined && !hasFunctionUrls(settings.region)) {
    read.mistake('region', NO_FUNCTION_URLS);
  }
  read.refuseUnknown();
  return settings;
}

function readGitLab(read: Section, vpc: VpcSettings): GitLabSettings {
  const url = read.required('url', shapes.GITLAB_URL);
  const host = URL.parse(url)?.hostname ?? '';
  const reachedFrom = read.choice('reachedFrom', ['internet', 'vpc'], 'internet');
  if (reachedFrom === 'vpc' && vpc.kind === 'new') {
    read.mistake(
      'reachedFrom',
      'a new VPC has no way to a private GitLab; name an existing one in vpc, or set "internet"',
    );
  }
  if (reachedFrom === 'vpc' && vpc.kind === 'existing' && vpc.assignPublicIp) {
    read.mistake(
      'reachedFrom',
      'functions get no public address, so in public subnets they reach nothing at all; name private subnets in vpc and leave assignPublicIp away, or set "internet"',
    );
  }
  const descriptors = readDescriptors(read);
  const instance = read.optional('instance', shapes.INSTANCE) ?? host;
  const routerUrl = read.optional('routerUrl', shapes.ROUTER_URL) ?? `wss://kas.${host}`;
  const controllerId = read.has('controllerId')
    ? read.integer('controllerId', { min: 1, max: Number.MAX_SAFE_INTEGER, fallback: 1 })
    : undefined;
  const proxyUrl = read.optional('proxyUrl', shapes.PROXY_URL);
  const caParameter = read.optional('caParameter', shapes.PARAMETER);
  read.refuseUnknown();
  return { url, descriptors, instance, routerUrl, controllerId, reachedFrom, proxyUrl, caParameter };
}

function readVpc(read: Section): VpcSettings {
  if (!EXISTING.some((name) => read.has(name))) {
    const cidr = read.optional('cidr', shapes.CIDR) ?? DEFAULT_CIDR;
    read.refuseUnknown();
    return { kind: 'new', cidr };
  }
  const id = read.required('id', shapes.VPC_ID);
  const subnetIds = read.list('subnetIds', shapes.SUBNET_ID);
  const availabilityZones = read.list('availabilityZones', shapes.ZONE_NAME);
  const assignPublicIp = read.flag('assignPublicIp', false);
  if (new Set(availabilityZones).size < 2) {
    read.mistake(
      'availabilityZones',
      'two relays want two zones; name the zone of each subnet, at least two',
    );
  }
  if (subnetIds.length !== availabilityZones.length) {
    read.mistake(
      'subnetIds',
      `${subnetIds.length} subnets and ${availabilityZones.length} zones; name the zone of each subnet, in the same order`,
    );
  }
  read.refuseUnknown();
  return { kind: 'existing', id, subnetIds, availabilityZones, assignPublicIp };
}

const EXISTING = ['id', 'subnetIds', 'availabilityZones', 'assignPublicIp'];

function readRelay(read: Section): RelaySettings {
  const cpu = read.choice('cpu', Object.keys(FARGATE_MEMORY_MIB).map(Number), 256);
  const sizes = FARGATE_MEMORY_MIB[cpu] ?? [];
  const deadlineMs = read.integer('deadlineMs', DEADLINE_MS);
  const answerWithinMs = read.integer('answerWithinMs', { ...WAITING_MS, fallback: deadlineMs });
  if (answerWithinMs < deadlineMs)
    read.mistake('answerWithinMs', `${answerWithinMs}; expected at least deadlineMs, which is ${deadlineMs}`);
  const relay: RelaySettings = {
    count: read.integer('count', { min: 1, max: RELAYS_MAX, fallback: RELAYS }),
    cpu,
    memoryMiB: read.choice('memoryMiB', sizes, sizes[0] ?? 0),
    image: read.optional('image', shapes.IMAGE),
    deadlineMs,
    ...(answerWithinMs > deadlineMs && { answerWithinMs }),
    failurePolicy: read.choice('failurePolicy', ['admit', 'reject'], 'admit'),
  };
  read.refuseUnknown();
  return relay;
}

function readParameters(read: Section, stage: string): ParameterNames {
  const named = (name: string, fallback: string): string =>
    read.optional(name, shapes.PARAMETER) ?? `/tollgate/${stage}/${fallback}`;
  const parameters: ParameterNames = {
    routerToken: named('routerToken', 'router-token'),
    gitlabToken: named('gitlabToken', 'gitlab-token'),
    controllerToken: named('controllerToken', 'controller-token'),
    webhookSecrets: named('webhookSecrets', 'webhook-secrets'),
    webhookTokens: read.optional('webhookTokens', shapes.PARAMETER),
    hookToken: read.optional('hookToken', shapes.PARAMETER),
    requeueTokens: read.optional('requeueTokens', shapes.PARAMETER),
    noteTokens: read.optional('noteTokens', shapes.PARAMETER),
    approvalKey: read.optional('approvalKey', shapes.PARAMETER),
    chatWebhooks: read.optional('chatWebhooks', shapes.PARAMETER),
    proxyCredentials: read.optional('proxyCredentials', shapes.PARAMETER),
    signInSecret: named('signInSecret', 'signin-secret'),
    consoleToken: named('consoleToken', 'console-token'),
    keyArn: read.optional('keyArn', shapes.KEY_ARN),
  };
  read.refuseUnknown();
  return parameters;
}

function readWebhooks(read: Section): Settings['webhooks'] {
  const webhooks = { jobsPerSecond: read.integer('jobsPerSecond', JOBS_PER_SECOND) };
  read.refuseUnknown();
  return webhooks;
}

function readConsole(read: Section): ConsoleSettings {
  const settings: ConsoleSettings = {
    url: read.required('url', shapes.CONSOLE_URL),
    clientId: read.required('clientId', shapes.CLIENT_ID),
    deviceClientId: read.optional('deviceClientId', shapes.CLIENT_ID),
    adminGroupId: read.integer('adminGroupId', GROUP_ID),
    financeGroupId: read.integer('financeGroupId', GROUP_ID),
    ownersFrom: read.choice('ownersFrom', ['maintainer', 'owner'], 'maintainer'),
    viewersFrom: read.choice('viewersFrom', ['guest', 'reporter', 'developer'], 'developer'),
    trustedProxies: read.list('trustedProxies', shapes.ADDRESS_RANGE),
  };
  read.refuseUnknown();
  return settings;
}

function readNotices(read: Section): Settings['notices'] {
  const notices = { everyMinutes: read.integer('everyMinutes', NOTICES_MINUTES) };
  read.refuseUnknown();
  return notices;
}

function readState(read: Section): Settings['state'] {
  const state = {
    tableKeyArn: read.optional('tableKeyArn', shapes.KEY_ARN),
    exportDays: read.integer('exportDays', EXPORT_DAYS),
  };
  read.refuseUnknown();
  return state;
}

function readAlarms(read: Section): Settings['alarms'] {
  const alarms = {
    emails: read.list('emails', shapes.EMAIL),
    webhooks: read.list('webhooks', shapes.WEBHOOK_URL),
    topicArns: read.list('topicArns', shapes.TOPIC_ARN),
    runbookUrl: read.optional('runbookUrl', shapes.WEBHOOK_URL),
  };
  read.refuseUnknown();
  return alarms;
}
