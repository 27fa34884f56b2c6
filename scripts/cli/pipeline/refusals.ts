import { expandParallel } from './job.ts';
import { refused } from './pipeline-error.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/**
 * Says that an entry names something that the files read do not have.
 *
 * @throws {PipelineError} `refused` if every file was read.
 */
export type Missing = (entry: string, what: string) => void;

/**
 * Keys of a job, in every version and edition.
 *
 * @see https://docs.gitlab.com/ci/yaml/#job-keywords
 */
const JOB_KEYS: ReadonlySet<string> = new Set(
  `after_script allow_failure artifacts before_script cache coverage dast_configuration
   dependencies environment except extends hooks id_tokens identity image inherit inputs
   interruptible manual_confirmation needs only pages parallel publish release resource_group
   retry rules run script secrets services stage start_in tags timeout trigger type variables
   when`.split(/\s+/),
);

const DEFAULT_STAGES = ['build', 'test', 'deploy'];

export function stagesOf(written: unknown): readonly string[] {
  const named = Array.isArray(written) && written.length > 0 ? written.flat().map(String) : DEFAULT_STAGES;
  return ['.pre', ...named.filter((stage) => stage !== '.pre' && stage !== '.post'), '.post'];
}

/** Judges jobs as GitLab does before it looks at any rule. Says less than GitLab does, and never more. */
export function refuseWrongJobs(
  jobs: readonly (readonly [name: string, entry: unknown])[],
  { stages: written, types }: YamlMap,
  missing: Missing,
): void {
  const stages = stagesOf(written);
  const names = new Set(jobs.map(([name]) => name));
  let cells: ReadonlySet<string> | undefined;
  for (const [name, entry] of jobs) {
    if (!isMap(entry) || !['script', 'run', 'trigger'].some((key) => entry[key] !== undefined)) {
      missing(name, 'has no script, run or trigger');
      continue;
    }
    const stray = Object.keys(entry).find((key) => !JOB_KEYS.has(key));
    if (stray !== undefined) throw refused(`"${stray}" is not a key of a job`, name);
    if (Array.isArray(entry.image)) {
      const list = JSON.stringify(entry.image);
      throw refused(`image is the list ${list}; expected a name or a mapping with a name`, name);
    }
    const { stage } = entry;
    if (typeof stage === 'string' && types === undefined && !stages.includes(stage))
      missing(name, `stage "${stage}" is not among the stages ${stages.join(', ')}`);
    for (const needed of [...jobsIn(entry.needs), ...jobsIn(entry.dependencies)])
      if (!names.has(needed)) {
        cells ??= cellNames(jobs);
        if (!cells.has(needed)) missing(name, `needs "${needed}", which is not a job of this pipeline`);
      }
  }
}

const jobsIn = (needs: unknown): readonly string[] =>
  [needs].flat(Number.POSITIVE_INFINITY).flatMap((each) => {
    if (typeof each === 'string') return each.includes('$[[') ? [] : [each];
    const isOther = !isMap(each) || each.optional === true || each.pipeline !== undefined;
    return isOther || each.project !== undefined || typeof each.job !== 'string' ? [] : [each.job];
  });

/** A need may name one cell of a matrix. */
const cellNames = (jobs: readonly (readonly [name: string, entry: unknown])[]): ReadonlySet<string> =>
  new Set(
    jobs.flatMap(([name, entry]) =>
      isMap(entry) ? expandParallel(name, entry.parallel, () => {}).map((cell) => cell.name) : [],
    ),
  );
