/** What this process last saw of the busiest counters: a hint for reading before writing, never a reason to refuse. */
import { keepLatest } from '../environment/keep-latest.ts';
import type { Job } from './job.ts';
import { fitsBound } from './merge.ts';
import type { KnownCounter } from './weighing.ts';

/** One line per counter of the groups one process serves; beyond it the longest unused goes. */
const COUNTERS_MAX = 10_000;

type Seen = Pick<KnownCounter, 'committed' | 'fitted'>;

const NOTHING: Seen = { committed: 0, fitted: 0 };

export class LastSeen {
  readonly #counters = new Map<string, Seen>();

  see(name: string, seen: Seen): void {
    const { committed, fitted } = seen;
    keepLatest(this.#counters, name, { committed, fitted }, COUNTERS_MAX);
  }

  /** Our own write moved it. A counter never seen stays unknown. */
  move(name: string, committed: number, fitted: number): void {
    const seen = this.#counters.get(name);
    if (seen !== undefined)
      this.see(name, { committed: seen.committed + committed, fitted: seen.fitted + fitted });
  }

  /**
   * The counters, by name, of the jobs that would not all fit, or are rejected without them. Reading them first is cheaper
   * than a refused transaction; all counters of such a job are named, because its rejection reports everything it does
   * not meet: nobody should mend an image only to learn of an empty budget.
   */
  nearlyFull(jobs: readonly Job[]): ReadonlySet<string> {
    const sums = new Map<string, number>();
    const named = new Set<string>();
    for (const { ask, names } of jobs) {
      const rejected = ask.violations.some(({ mode }) => mode === 'enforce');
      let full = rejected;
      ask.claims.forEach((claim, index) => {
        const name = names[index] ?? '';
        const seen = this.#counters.get(name) ?? NOTHING;
        const sum = sums.get(name) ?? 0;
        if (!rejected) sums.set(name, sum + claim.amount);
        // Past the soft part every job is noted with what the counter shows.
        const bound = claim.soft?.bound ?? claim.bound;
        if (bound === undefined) return;
        const taken = sum + (claim.mode === 'enforce' ? seen.committed : seen.fitted);
        if (!fitsBound(taken, claim.amount, bound)) full = true;
      });
      if (full) for (const name of names) named.add(name);
    }
    return named;
  }
}
