import { type RunHistory, withRun } from './run-history.ts';

/** The histories of a project's jobs, by {@link historyKey}. */
export type ProjectHistory = ReadonlyMap<string, RunHistory>;

export const NO_HISTORY: ProjectHistory = new Map();

/** A run that ended. */
export interface JobRun {
  readonly jobName: string;
  readonly runnerClass: string;
  readonly seconds: number;
  readonly endedAtMs: number;
}

/** Names of one project and class that are remembered; a larger project's rare jobs get the default. */
export const HISTORIES_MAX = 200;
/** Twice as many runs are worth a day of not having run: new names do not push out those that run all the time. */
const HOURS_PER_DOUBLING = 24;
/** As long as the record keeps it. */
const JOB_NAME_CHARACTERS_MAX = 120;

/** A line feed stands in neither: GitLab's job names are one line. */
export const historyKey = (jobName: string, runnerClass: string): string =>
  `${runnerClass}\n${jobName.slice(0, JOB_NAME_CHARACTERS_MAX)}`;

/** A run counts for its full name and, if it is one of `parallel`, for the name they share. */
export function withRuns(project: ProjectHistory, runs: readonly JobRun[]): ProjectHistory {
  const after = new Map(project);
  for (const { jobName, runnerClass, seconds, endedAtMs } of runs) {
    if (!(seconds > 0)) continue;
    for (const name of namesOf(jobName)) {
      const key = historyKey(name, runnerClass);
      after.set(key, withRun(after.get(key), seconds, endedAtMs));
    }
  }
  return foremost(after, HISTORIES_MAX);
}

/** What is known of a job: by its full name first, then by the name without the suffix of `parallel`. */
export const historiesOf = (
  project: ProjectHistory,
  jobName: string,
  runnerClass: string,
): readonly RunHistory[] =>
  namesOf(jobName).flatMap((name) => project.get(historyKey(name, runnerClass)) ?? []);

/** The most used and most recent ones, best first. */
function foremost(project: ProjectHistory, max: number): ProjectHistory {
  if (project.size <= max) return project;
  return new Map(byUse(project).slice(0, max));
}

export const byUse = (project: ProjectHistory): (readonly [string, RunHistory])[] =>
  [...project].sort(([keyA, a], [keyB, b]) => useOf(b) - useOf(a) || (keyA < keyB ? -1 : 1));

const useOf = ({ usedAtHour, runs }: RunHistory): number => usedAtHour + HOURS_PER_DOUBLING * Math.log2(runs);

const namesOf = (jobName: string): readonly string[] => {
  const shared = withoutParallelSuffix(jobName);
  return shared === undefined ? [jobName] : [jobName, shared];
};

/** `rspec 3/50`, and `build: [linux, arm64]` as GitLab names the jobs of `parallel` and of its matrix. */
const SUFFIX = /(?: \d{1,3}\/\d{1,3}|: \[[^[\]]*\])$/;

/** The name all jobs of one `parallel` share; undefined where there is no such suffix. */
export function withoutParallelSuffix(jobName: string): string | undefined {
  const short = jobName.replace(SUFFIX, '');
  return short === jobName || short === '' ? undefined : short;
}
