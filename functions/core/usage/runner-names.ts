/** Runners as usage names them: one count each for jobs they were asked about, and for jobs they were not. */
export const ASKED_ON_PREFIX = 'a:';
export const UNASKED_ON_PREFIX = 'b:';
/** GitLab named no runner, or the record had no room for it. */
export const UNKNOWN_RUNNER = '?';
/** Runners beyond those that a day has room for. */
export const OTHER_RUNNERS = '*';

export const isRunnerName = (name: string): boolean => RUNNER_NAME.test(name);

const RUNNER_NAME = new RegExp(`^(?:${ASKED_ON_PREFIX}|${UNASKED_ON_PREFIX})`);

/** Some ten bytes each, so that they add a write unit or two to an item that has one. */
const NAMED_MAX = 100;
/** Days of top-level groups that are remembered. */
const DAYS_MAX = 5_000;

export const isGroupSubject = (subject: string): boolean => subject.startsWith('group/');

/**
 * Returns a runner's name in a day's usage. @param subjects - of the job, the top-level group first among
 * its groups
 */
export type RunnerName = (runnerId: number | undefined, day: string, subjects: readonly string[]) => string;

/**
 * Keeps usage items small: a day of a top-level group names its first hundred runners, and counts the jobs of any more
 * together. It remembers them for one process, so the names of a day stay near the bound and no total depends on it.
 */
export function runnerNames(): RunnerName {
  const named = new Map<string, Set<number>>();
  return (runnerId, day, subjects) => {
    if (runnerId === undefined) return UNKNOWN_RUNNER;
    const key = day + subjects.find(isGroupSubject);
    const names = named.get(key) ?? new Set();
    if (names.size >= NAMED_MAX && !names.has(runnerId)) return OTHER_RUNNERS;
    if (named.size >= DAYS_MAX) named.clear();
    named.set(key, names.add(runnerId));
    return `${runnerId}`;
  };
}
