/** Who would have fitted, had everybody known how long every job takes and when it ends. */

import { counterName, isInFlight, type LimitClaim } from '../../policies/claim.ts';
import { evaluate } from '../../policies/evaluate.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { InForce } from './in-force.ts';
import { questionOf } from './question.ts';
import type { Run } from './simulated-gitlab.ts';
import { trueSeconds } from './true-cost.ts';

export class PerfectKnowledge {
  readonly #inForce: InForce;
  /** What jobs that were let go on will have used in the end. */
  readonly #used = new Map<string, number>();
  /** When the jobs in flight end, by counter. */
  readonly #ends = new Map<string, number[]>();

  constructor(inForce: InForce) {
    this.#inForce = inForce;
  }

  started(run: Run, nowMs: number): void {
    const isCharged = run.job.fate === 'runs' || run.job.fate === 'bypass';
    for (const { counter, unit, amount } of this.#claims(run.job, nowMs).claims) {
      const name = counterName(counter);
      if (!isInFlight(unit)) this.#used.set(name, (this.#used.get(name) ?? 0) + (isCharged ? amount : 0));
      else this.#ends.set(name, [...this.#inFlight(name, nowMs), run.endsAtMs]);
    }
  }

  wouldFit(job: PlannedJob, nowMs: number): boolean {
    const { claims, violations } = this.#claims(job, nowMs);
    return (
      violations.every(({ mode }) => mode !== 'enforce') && claims.every((claim) => this.#fits(claim, nowMs))
    );
  }

  #fits({ counter, unit, amount, bound, mode }: LimitClaim, nowMs: number): boolean {
    if (mode !== 'enforce') return true;
    const name = counterName(counter);
    const taken = isInFlight(unit) ? this.#inFlight(name, nowMs).length : (this.#used.get(name) ?? 0);
    return taken + amount <= (bound ?? Number.POSITIVE_INFINITY);
  }

  #inFlight(name: string, nowMs: number): readonly number[] {
    return (this.#ends.get(name) ?? []).filter((endsAtMs) => endsAtMs > nowMs);
  }

  #claims(job: PlannedJob, nowMs: number) {
    const { rules, tree } = this.#inForce.now;
    const estimator = { estimateSeconds: () => trueSeconds(job) };
    return evaluate(questionOf(job, tree), { ...rules, estimator, nowMs });
  }
}
