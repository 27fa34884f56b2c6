/**
 * Caches the last known amounts of the busiest counters: a hint to read before a write, never a reason to
 * refuse.
 */

import { keepLatest } from '../../../policies/keep-latest.ts';
import type { LedgerClock } from '../environment/index.ts';
import { TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import { type HoldJob, isBehind, type WeighedVerdict, type WeighingResult } from './job.ts';
import type { HoldOptions, HoldOutcome } from './ledger.ts';
import { fitsBound, type KnownCounter } from './merge.ts';

/** One line per counter of the groups one process serves; beyond it the longest unused goes. */
const COUNTERS_MAX = 10_000;

type Seen = Pick<KnownCounter, 'committed' | 'fitted'>;

const NOTHING: Seen = { committed: 0, fitted: 0 };

export class SeenCounters {
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
   * Lists the counters of jobs that may be refused. Reading them first is cheaper than a refused
   * transaction. All counters of such a job are listed, so that its rejection reports every violation.
   */
  nearlyFull(jobs: readonly HoldJob[]): ReadonlySet<string> {
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
        // Past the soft part every job is noted with what the counter shows; past its own a job borrows.
        const bound = claim.own ?? claim.soft?.bound ?? claim.bound;
        if (bound === undefined) return;
        if (isBehind({ ask, names }, index)) full = true;
        const taken = sum + (claim.mode === 'enforce' ? seen.committed : seen.fitted);
        if (!fitsBound(taken, claim.amount, bound)) full = true;
      });
      if (full) for (const name of names) named.add(name);
    }
    return named;
  }
}

// A limit that is no longer in force must not reject.
/** One read of one item takes a few milliseconds. What takes longer is our trouble, and the decision stands as it is. */
const ASK_MS_MAX = 300;
/** An answer with less time left would come too late to be of use. */
const ASK_MS_MIN = 20;

const STALE: HoldOutcome = { outcome: 'undecided', cause: 'stale_limits' };

/** For one call of hold: checks once if the limits are still in force, and only before a rejection. */
export class StaleLimits {
  readonly #ask: HoldOptions['limitsAreCurrent'];
  readonly #deadlineMs: number;
  readonly #clock: LedgerClock;
  #current: boolean | undefined;

  /** @param ask - absent: nothing is asked. */
  constructor(ask: HoldOptions['limitsAreCurrent'], deadlineMs: number, clock: LedgerClock) {
    this.#ask = ask;
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /**
   * Removes jobs whose limits have changed and marks them stale. A rejected job holds nothing, so the other
   * results stay valid.
   */
  async sifted(weighing: WeighingResult): Promise<WeighingResult> {
    const hanging = weighing.verdicts.filter(hangsOnLimits);
    if (hanging.length === 0 || (await this.#areCurrent())) return weighing;
    for (const { job } of hanging) job.outcome = STALE;
    return { ...weighing, verdicts: weighing.verdicts.filter(({ job }) => job.outcome !== STALE) };
  }

  async #areCurrent(): Promise<boolean> {
    if (this.#ask === undefined) return true;
    if (this.#current === undefined) {
      const timeoutMs = Math.min(
        ASK_MS_MAX,
        timeLeftMs(this.#deadlineMs, this.#clock) - TRANSACTION_RESERVE_MS,
      );
      this.#current = timeoutMs < ASK_MS_MIN || (await this.#ask(timeoutMs));
    }
    return this.#current;
  }
}

/**
 * Rejected, and not by a security rule, whose modes no limit set can change. Every violation of the other classes may hang
 * on it: by a limit, or by how far it rolls the rule out.
 */
const hangsOnLimits = ({ violations }: WeighedVerdict): boolean =>
  violations.length > 0 && !violations.some((each) => each.class === 'security');
