import { DEPLOYMENT, hasFunctionUrls, NO_FUNCTION_URLS, type Settings } from './deployment.ts';
import { type Context, OVERRIDES, overridden, STAGE_KEY, unknownKeys } from './overrides.ts';

const FILE = 'cdk/tollgate.config.ts';

/** One setting that cannot be used. */
export interface Mistake {
  /** Its path: `relay.memoryMiB`. */
  readonly setting: string;
  /** As it was given; undefined: it was not. */
  readonly value: unknown;
  /** Its place: `tollgate.config.ts, stage "prod"`, `-c relayMemoryMiB`. */
  readonly place: string;
  /** The correction. */
  readonly remedy: string;
}

/** Lists every mistake of all deployments in one error. */
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

/**
 * Reads every deployment of the file, or the one of `-c stage=…`, with overrides of the command line.
 *
 * @param callersRegion - the default region; undefined: not known yet.
 * @throws {SettingsError} listing every mistake.
 */
export function readDeployments(
  deployments: unknown,
  context: Context,
  callersRegion?: string,
): readonly Settings[] {
  const mistakes: Mistake[] = [];
  const note = (mistake: Mistake): void => {
    mistakes.push(mistake);
  };
  for (const key of unknownKeys(context)) {
    const remedy = `there is no such setting; here are ${[STAGE_KEY, ...Object.keys(OVERRIDES)].join(', ')}`;
    note({ setting: key, value: context[key], place: `-c ${key}`, remedy });
  }
  const all: readonly unknown[] = Array.isArray(deployments) ? deployments : [];
  if (all.length === 0) {
    note({ setting: 'deployments', value: deployments, place: FILE, remedy: 'expected at least one' });
  }
  const chosen = chosenFrom(all, context[STAGE_KEY], note);
  const settings = chosen.flatMap(({ deployment, index }) => {
    const { deployment: final, placeOf } = overridden(deployment, context);
    const stage = stageOf(deployment);
    const place = `${FILE}, ${stage === undefined ? `deployments[${index}]` : `stage "${stage}"`}`;
    const read = DEPLOYMENT.safeParse(final);
    if (!read.success) {
      for (const issue of read.error.issues)
        for (const path of issue.code === 'unrecognized_keys'
          ? issue.keys.map((key) => [...issue.path, key])
          : [issue.path])
          note({
            setting: settingAt(path),
            value: path.reduce<unknown>(
              (value, key) => (value as Record<PropertyKey, unknown>)?.[key],
              final,
            ),
            place: placeOf.get(path.filter((key) => typeof key === 'string').join('.')) ?? place,
            remedy: issue.message,
          });
      return [];
    }
    if (read.data.region === undefined && callersRegion !== undefined && !hasFunctionUrls(callersRegion))
      note({
        setting: 'region',
        value: callersRegion,
        place: 'the region of the deploying user',
        remedy: NO_FUNCTION_URLS,
      });
    return [read.data];
  });
  noteRepeatedStages(settings, note);
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return settings;
}

interface Chosen {
  readonly deployment: unknown;
  readonly index: number;
}

function chosenFrom(
  all: readonly unknown[],
  stage: unknown,
  note: (mistake: Mistake) => void,
): readonly Chosen[] {
  const numbered = all.map((deployment, index) => ({ deployment, index }));
  if (stage === undefined) return numbered;
  const chosen = numbered.filter(({ deployment }) => stageOf(deployment) === stage);
  if (chosen.length === 0) {
    const stages = all.map(stageOf).filter((each) => each !== undefined);
    const remedy = `${FILE} has no such stage; it has ${stages.join(', ')}`;
    note({ setting: STAGE_KEY, value: stage, place: `-c ${STAGE_KEY}`, remedy });
  }
  return chosen;
}

/** Stages name the stacks: two of one name would be one deployment. */
function noteRepeatedStages(settings: readonly Settings[], note: (mistake: Mistake) => void): void {
  const seen = new Set<string>();
  for (const { stage } of settings) {
    if (seen.has(stage)) {
      const remedy = 'two deployments have this stage; give each its own, such as prod-emea';
      note({ setting: 'stage', value: stage, place: FILE, remedy });
    }
    seen.add(stage);
  }
}

function stageOf(deployment: unknown): string | undefined {
  const stage = typeof deployment === 'object' && deployment !== null && 'stage' in deployment;
  return stage && typeof deployment.stage === 'string' ? deployment.stage : undefined;
}

/** Writes a path as `alarms.emails[0]`. */
const settingAt = (path: readonly PropertyKey[]): string =>
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
