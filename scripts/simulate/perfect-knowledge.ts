/** Who would have fitted, had everybody known how long every job takes and when it ends. */

import type { Rules } from '../../functions/admit/decide-deps.ts';
import { counterName, isInFlight, type LimitClaim } from '../../policies/claim.ts';
import { evaluate } from '../../policies/evaluate.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Workload } from './draw-workload.ts';
import { questionOf } from './question.ts';
import type { Run } from './simulated-gitlab.ts';
import { trueSeconds, usedBy } from './true-cost.ts';

export class PerfectKnowledge {
  readonly #workload: Workload;
  readonly #rules: Omit<Rules, 'estimator'>;
  /** What jobs that were let go on will have used in the end. */
  readonly #used = new Map<string, number>();
  /** When the jobs in flight end, by counter. */
  readonly #ends = new Map<string, number[]>();

  constructor(workload: Workload, rules: Omit<Rules, 'estimator'>) {
    this.#workload = workload;
    this.#rules = rules;
  }

  /** @param claims - what it asked for; absent: it never asked. */
  started(run: Run, nowMs: number, claims = this.#claims(run.job, nowMs).claims): void {
    for (const { counter, unit } of claims) {
      const name = counterName(counter);
      if (!isInFlight(unit)) this.#used.set(name, (this.#used.get(name) ?? 0) + usedBy(run.job, unit));
      else this.#ends.set(name, [...this.#inFlight(name, nowMs), run.endsAtMs]);
    }
  }

  wouldFit(job: PlannedJob, nowMs: number): boolean {
    const { claims, violations } = this.#claims(job, nowMs);
    return violations.length === 0 && claims.every((claim) => this.#fits(claim, nowMs));
  }

  #fits({ counter, unit, amount, bound }: LimitClaim, nowMs: number): boolean {
    const name = counterName(counter);
    const taken = isInFlight(unit) ? this.#inFlight(name, nowMs).length : (this.#used.get(name) ?? 0);
    return taken + amount <= (bound ?? Number.POSITIVE_INFINITY);
  }

  #inFlight(name: string, nowMs: number): readonly number[] {
    return (this.#ends.get(name) ?? []).filter((endsAtMs) => endsAtMs > nowMs);
  }

  #claims(job: PlannedJob, nowMs: number) {
    const estimator = { estimateSeconds: () => trueSeconds(job) };
    return evaluate(questionOf(job, this.#workload.places), { ...this.#rules, estimator, nowMs });
  }
}
