/** Settings on the command line, `-c relayImage=…`: they win over the file, in every deployment that is synthesized. */

type Kind = 'text' | 'number' | 'flag' | 'list';

/** Settings that `-c` can override. Lists are separated by commas. */
export const OVERRIDES: Readonly<Record<string, { readonly path: readonly string[]; readonly kind: Kind }>> =
  {
    account: { path: ['account'], kind: 'text' },
    region: { path: ['region'], kind: 'text' },
    gitlabUrl: { path: ['gitlab', 'url'], kind: 'text' },
    gitlabDescriptors: { path: ['gitlab', 'descriptors'], kind: 'text' },
    routerUrl: { path: ['gitlab', 'routerUrl'], kind: 'text' },
    controllerId: { path: ['gitlab', 'controllerId'], kind: 'number' },
    admitRoute: { path: ['admitRoute'], kind: 'text' },
    relayImage: { path: ['relay', 'image'], kind: 'text' },
    relayCount: { path: ['relay', 'count'], kind: 'number' },
    relayCpu: { path: ['relay', 'cpu'], kind: 'number' },
    relayMemoryMiB: { path: ['relay', 'memoryMiB'], kind: 'number' },
    answerWithinMs: { path: ['relay', 'answerWithinMs'], kind: 'number' },
    deadlineMs: { path: ['relay', 'deadlineMs'], kind: 'number' },
    failurePolicy: { path: ['relay', 'failurePolicy'], kind: 'text' },
    vpcId: { path: ['vpc', 'id'], kind: 'text' },
    subnetIds: { path: ['vpc', 'subnetIds'], kind: 'list' },
    availabilityZones: { path: ['vpc', 'availabilityZones'], kind: 'list' },
    assignPublicIp: { path: ['vpc', 'assignPublicIp'], kind: 'flag' },
    alarmEmails: { path: ['alarms', 'emails'], kind: 'list' },
    consoleUrl: { path: ['console', 'url'], kind: 'text' },
    consoleClientId: { path: ['console', 'clientId'], kind: 'text' },
    consoleAdminGroupId: { path: ['console', 'adminGroupId'], kind: 'number' },
    consoleFinanceGroupId: { path: ['console', 'financeGroupId'], kind: 'number' },
    logRetentionDays: { path: ['logRetentionDays'], kind: 'number' },
    watchdog: { path: ['watchdog'], kind: 'flag' },
    metrics: { path: ['metrics'], kind: 'flag' },
    traces: { path: ['traces'], kind: 'flag' },
  };

/** Chooses the deployment: the others are left out. */
export const STAGE_KEY = 'stage';

/** Keys of CDK's own context hold ":", "@" or "-"; a plain word that is none of ours is misspelt. */
const PLAIN_WORD = /^[A-Za-z]\w*$/;

export type Context = Readonly<Record<string, unknown>>;

export const unknownKeys = (context: Context): readonly string[] =>
  Object.keys(context).filter(
    (key) => PLAIN_WORD.test(key) && key !== STAGE_KEY && !Object.hasOwn(OVERRIDES, key),
  );

/** The deployment with what the command line says instead, and which settings that are. */
export function overridden(
  deployment: unknown,
  context: Context,
): { readonly deployment: unknown; readonly placeOf: ReadonlyMap<string, string> } {
  const placeOf = new Map<string, string>();
  let result = deployment;
  for (const [key, { path, kind }] of Object.entries(OVERRIDES)) {
    const text = context[key];
    if (text === undefined) continue;
    result = replaced(result, path, typeof text === 'string' ? readText(text, kind) : text);
    placeOf.set(path.join('.'), `-c ${key}`);
  }
  return { deployment: result, placeOf };
}

function replaced(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  return { ...fields, [name]: replaced(fields[name], rest, value) };
}

/** Other values stay text, and the setting's own check refuses them. */
function readText(text: string, kind: Kind): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'number':
      return /^\d+$/.test(text) ? Number(text) : text;
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text === '' ? [] : text.split(',');
  }
}
