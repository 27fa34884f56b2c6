import type { z } from 'zod';
import { DEPLOYMENT, type Settings } from './deployment.ts';
import type { Deployment } from './props.ts';
import { DEFAULT_STAGE } from './settings.ts';

const FILE = 'cdk/tollgate.config.ts';
const STAGE_KEY = 'stage';
/** Settings are named by their path, as in `-c relay.image=…`. CDK's own keys have ":", "@" or "-". */
const SETTING = /^[A-Za-z][\w.]*$/;
const LISTS =
  /^vpc\.(?:subnetIds|availabilityZones)$|^alarms\.(?:emails|webhooks|topicArns)$|\.trustedProxies$/;

type Context = Readonly<Record<string, unknown>>;

export interface Mistake {
  readonly setting: string;
  readonly value: unknown;
  /** `tollgate.config.ts, stage "prod"`, `-c relay.memoryMiB`. */
  readonly place: string;
  readonly remedy: string;
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map((mistake, index) => `  ${index + 1}. ${mistakeText(mistake)}`);
    const count = mistakes.length === 1 ? '1 setting is' : `${mistakes.length} settings are`;
    super(`[settings_invalid] ${count} wrong:\n${lines.join('\n')}`);
    this.mistakes = mistakes;
  }
}

/** @param place - of the mistakes, such as `tollgate.config.ts, stage "prod"` @throws {SettingsError} listing every mistake */
export function readDeployment(deployment: unknown, place: string): Settings {
  const [settings, mistakes] = parseDeployment(deployment, () => place);
  if (settings === undefined) throw new SettingsError(mistakes);
  return settings;
}

function parseDeployment(deployment: unknown, placeOf: (setting: string) => string) {
  const read = DEPLOYMENT.safeParse(deployment);
  const mistakes = issuePaths(read.error).map(({ path, message }): Mistake => {
    const key = path.filter((each) => typeof each === 'string').join('.');
    const value = path.reduce<unknown>(
      (at, each) => (at as Record<PropertyKey, unknown>)?.[each],
      deployment,
    );
    return { setting: settingName(path), value, place: placeOf(key), remedy: message };
  });
  return [read.data, mistakes] as const;
}

/** Every deployment of the file, or the one of `-c stage=…`, with overrides. @throws {SettingsError} listing every mistake */
export function readDeployments(deployments: unknown, context: Context): readonly Settings[] {
  const mistakes: Mistake[] = [];
  const note = (setting: string, value: unknown, place: string, remedy: string): void => {
    mistakes.push({ setting, value, place, remedy });
  };
  const all: readonly unknown[] = Array.isArray(deployments) ? deployments : [];
  const chosen = chosenDeployments(all, context);
  if (all.length === 0) note('deployments', deployments, FILE, 'expected at least one');
  else if (chosen.length === 0) {
    const remedy = `${FILE} has no such stage; it has ${all.map(readStage).join(', ')}`;
    note(STAGE_KEY, context[STAGE_KEY], `-c ${STAGE_KEY}`, remedy);
  }
  const settings = chosen.flatMap((deployment, index) => {
    const name = readStage(deployment);
    const place = `${FILE}, ${name === undefined ? `deployments[${index}]` : `stage "${name}"`}`;
    const [read, wrong] = parseDeployment(deployment, (key) =>
      Object.hasOwn(context, key) ? `-c ${key}` : place,
    );
    mistakes.push(...wrong);
    return read ?? [];
  });
  // Stages name the stacks: two of one name would be one deployment.
  const stages = settings.map((each) => each.stage);
  for (const repeated of new Set(stages.filter((each, at) => stages.indexOf(each) !== at))) {
    const remedy = 'two deployments have this stage; give each its own, such as prod-emea';
    note(STAGE_KEY, repeated, FILE, remedy);
  }
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return settings;
}

/** The command line wins over the file, in every deployment that is synthesized. */
export const chosenDeployments = (deployments: readonly unknown[], context: Context): readonly Deployment[] =>
  deployments
    .filter((each) => context[STAGE_KEY] === undefined || readStage(each) === context[STAGE_KEY])
    .map((each) => override(each, context) as Deployment);

const override = (deployment: unknown, context: Context): unknown =>
  Object.entries(context)
    .filter(([key]) => SETTING.test(key) && key !== STAGE_KEY)
    .reduce((result, [key, value]) => replace(result, key.split('.'), readText(key, value)), deployment);

function replace(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  return { ...fields, [name]: replace(fields[name], rest, value) };
}

/** Lists are separated by commas. Other values stay text, and the setting's own check refuses them. */
function readText(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (LISTS.test(key)) return value === '' ? [] : value.split(',');
  if (value === 'true' || value === 'false') return value === 'true';
  return /^\d+$/.test(value) && key !== 'account' ? Number(value) : value;
}

const issuePaths = (error: z.ZodError | undefined) =>
  (error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], message: issue.message }))
      : [{ path: issue.path, message: issue.message }],
  );

export function readStage(deployment: unknown): string | undefined {
  const { stage = DEFAULT_STAGE } = (deployment ?? {}) as { readonly stage?: unknown };
  return typeof stage === 'string' ? stage : undefined;
}

const settingName = (path: readonly PropertyKey[]): string =>
  path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('');

const SHOWN_CHARS_MAX = 80;

function mistakeText({ setting, value, place, remedy }: Mistake): string {
  if (value === undefined) return `${setting} is missing (${place}): ${remedy}`;
  const shown = JSON.stringify(value) ?? String(value);
  const cut = shown.length > SHOWN_CHARS_MAX ? `${shown.slice(0, SHOWN_CHARS_MAX)}…` : shown;
  return `${setting} is ${cut} (${place}): ${remedy}`;
}
