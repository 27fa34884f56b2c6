import { type Mistake, SettingsError } from './mistake.ts';
import { type Context, OVERRIDES, overridden, STAGE_KEY, unknownKeys } from './overrides.ts';
import { readSettings } from './read-settings.ts';
import { hasFunctionUrls, NO_FUNCTION_URLS } from './regions.ts';
import type { Settings } from './settings.ts';

const FILE = 'cdk/tollgate.config.ts';

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
  const settings = chosen.map(({ deployment, index }) => {
    const { deployment: final, placeOf } = overridden(deployment, context);
    const stage = stageOf(deployment);
    const place = `${FILE}, ${stage === undefined ? `deployments[${index}]` : `stage "${stage}"`}`;
    const placeOfSetting = (setting: string): string => placeOf.get(setting.replace(/\[\d+\]$/, '')) ?? place;
    const read = readSettings(final, { note, placeOf: placeOfSetting });
    if (read.region === undefined && callersRegion !== undefined && !hasFunctionUrls(callersRegion)) {
      const whose = 'the region of whoever deploys';
      note({ setting: 'region', value: callersRegion, place: whose, remedy: NO_FUNCTION_URLS });
    }
    return read;
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
