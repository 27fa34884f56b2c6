/** Runners as usage names them: one count each for jobs they were asked about, and for jobs they were not. */
export const ASKED_ON_PREFIX = 'a:';
export const UNASKED_ON_PREFIX = 'b:';
/** GitLab named no runner, or the record had no room for it. */
export const UNKNOWN_RUNNER = '?';
/** Runners beyond those that a day has room for. */
export const OTHER_RUNNERS = '*';

export const isRunnerName = (name: string): boolean =>
  name.startsWith(ASKED_ON_PREFIX) || name.startsWith(UNASKED_ON_PREFIX);

/** Some ten bytes each, so that they add a write unit or two to an item that has one. */
const NAMED_MAX = 100;
/** Days of top-level groups that are remembered. */
const DAYS_MAX = 5_000;

/**
 * Keeps usage items small: a day of a top-level group names its first hundred runners, and counts the jobs of any more
 * together. It remembers them for one process, so the names of a day stay near the bound and no total depends on it.
 */
export class RunnerNames {
  readonly #named = new Map<string, Set<number>>();

  nameOf(
    runnerId: number | undefined,
    { day, subjects }: { readonly day: string; readonly subjects: readonly string[] },
  ): string {
    if (runnerId === undefined) return UNKNOWN_RUNNER;
    const key = `${subjects.find((subject) => subject.startsWith('group/')) ?? ''}|${day}`;
    const named = this.#named.get(key) ?? new Set();
    if (named.has(runnerId)) return String(runnerId);
    if (named.size >= NAMED_MAX) return OTHER_RUNNERS;
    if (this.#named.size >= DAYS_MAX) this.#named.clear();
    this.#named.set(key, named.add(runnerId));
    return String(runnerId);
  }
}
