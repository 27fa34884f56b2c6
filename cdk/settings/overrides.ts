/** Settings on the command line, `-c relayImage=…`: they win over the file, in every deployment that is synthesized. */

export const OVERRIDES: Readonly<Record<string, string>> = {
  account: 'account',
  region: 'region',
  gitlabUrl: 'gitlab.url',
  gitlabDescriptors: 'gitlab.descriptors',
  routerUrl: 'gitlab.routerUrl',
  controllerId: 'gitlab.controllerId',
  admitRoute: 'admitRoute',
  relayImage: 'relay.image',
  relayCount: 'relay.count',
  relayCpu: 'relay.cpu',
  relayMemoryMiB: 'relay.memoryMiB',
  answerWithinMs: 'relay.answerWithinMs',
  deadlineMs: 'relay.deadlineMs',
  failurePolicy: 'relay.failurePolicy',
  vpcId: 'vpc.id',
  subnetIds: 'vpc.subnetIds',
  availabilityZones: 'vpc.availabilityZones',
  assignPublicIp: 'vpc.assignPublicIp',
  alarmEmails: 'alarms.emails',
  consoleUrl: 'console.url',
  consoleClientId: 'console.clientId',
  consoleAdminGroupId: 'console.adminGroupId',
  consoleFinanceGroupId: 'console.financeGroupId',
  logRetentionDays: 'logRetentionDays',
  watchdog: 'watchdog',
  metrics: 'metrics',
  traces: 'traces',
};
const LISTS: ReadonlySet<string> = new Set(['subnetIds', 'availabilityZones', 'alarmEmails']);

export const STAGE_KEY = 'stage';

/** Keys of CDK's own context hold ":", "@" or "-"; a plain word that is none of ours is misspelt. */
const PLAIN_WORD = /^[A-Za-z]\w*$/;

export type Context = Readonly<Record<string, unknown>>;

export const unknownKeys = (context: Context): readonly string[] =>
  Object.keys(context).filter(
    (key) => PLAIN_WORD.test(key) && key !== STAGE_KEY && !Object.hasOwn(OVERRIDES, key),
  );

/** Returns the deployment with the values of the command line, and the key of each by its setting. */
export function overridden(deployment: unknown, context: Context) {
  const placeOf = new Map<string, string>();
  let result = deployment;
  for (const [key, path] of Object.entries(OVERRIDES)) {
    const text = context[key];
    if (text === undefined) continue;
    result = replaced(result, path.split('.'), typeof text === 'string' ? readText(key, text) : text);
    placeOf.set(path, `-c ${key}`);
  }
  return { deployment: result, placeOf };
}

function replaced(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  return { ...fields, [name]: replaced(fields[name], rest, value) };
}

/** Lists are separated by commas. Other values stay text, and the setting's own check refuses them. */
function readText(key: string, text: string): unknown {
  if (LISTS.has(key)) return text === '' ? [] : text.split(',');
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) && key !== 'account' ? Number(text) : text;
}
