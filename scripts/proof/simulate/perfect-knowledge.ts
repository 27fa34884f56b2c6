/** Who would have fitted, had everybody known how long every job takes and when it ends. */
import type { PlannedJob } from './draw-jobs.ts';
import type { ExpectedClaim } from './expected/asked-claims.ts';
import type { EditionInForce } from './in-force.ts';
import { askedJobOf } from './question.ts';
import type { SimulatedRun } from './simulated-gitlab.ts';
import { trueSeconds } from './true-cost.ts';

export class PerfectKnowledge {
  readonly #inForce: EditionInForce;
  /** What jobs that were let go on will have used in the end. */
  readonly #used = new Map<string, number>();
  /** When the jobs in flight end, by counter. */
  readonly #ends = new Map<string, readonly number[]>();

  constructor(inForce: EditionInForce) {
    this.#inForce = inForce;
  }

  started(run: SimulatedRun, nowMs: number): void {
    const isCharged = run.job.fate === 'runs' || run.job.fate === 'bypass';
    for (const { counter, unit, amount } of this.#claims(run.job, nowMs)) {
      if (unit === 'jobs') this.#ends.set(counter, [...this.#inFlight(counter, nowMs), run.endsAtMs]);
      else if (isCharged) this.#used.set(counter, (this.#used.get(counter) ?? 0) + amount);
    }
  }

  wouldFit(job: PlannedJob, nowMs: number): boolean {
    return this.#claims(job, nowMs).every((claim) => this.#fits(claim, nowMs));
  }

  #fits({ counter, unit, amount, bound, mode }: ExpectedClaim, nowMs: number): boolean {
    if (bound === undefined || mode !== 'enforce') return true;
    const taken = unit === 'jobs' ? this.#inFlight(counter, nowMs).length : (this.#used.get(counter) ?? 0);
    return bound > 0 && taken + amount <= bound;
  }

  #inFlight(counter: string, nowMs: number): readonly number[] {
    return (this.#ends.get(counter) ?? []).filter((endsAtMs) => endsAtMs > nowMs);
  }

  /** What it asks for if it is taken to run as long as it will. */
  #claims(job: PlannedJob, nowMs: number): readonly ExpectedClaim[] {
    const { asked, tree } = this.#inForce.now;
    return asked.of(askedJobOf(job, tree), nowMs, trueSeconds(job)).claims;
  }
}
