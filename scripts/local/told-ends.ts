import type { AcceptsEnd, EndOutcome, Ledger } from '../../functions/core/ledger/index.ts';

/** Who told the ledger that a job had ended. */
type Teller = 'webhook' | 'sweep';

/** How the jobs that ran came to be charged, in numbers. What never ran is given back, and not counted here. */
export interface ToldEnds {
  readonly webhook: number;
  readonly sweep: number;
  /** Part of `sweep`: those whose webhook was lost. The others' was still on its way. */
  readonly healed: number;
}

/** Notes who was first to tell of each end. */
export class EndsBook {
  #webhook = 0;
  #sweep = 0;
  #healed = 0;
  /** Jobs whose end no webhook will tell; they leave when the sweep does. */
  readonly #untold = new Set<number>();

  /** The webhook of a job's end did not come through. */
  lost(jobId: number): void {
    this.#untold.add(jobId);
  }

  /** The same ledger; what it applies is noted as this teller's. */
  noting(ledger: Ledger, teller: Teller): Ledger {
    const noted =
      <Job extends { readonly jobId: number }>(
        call: (jobs: readonly Job[], accepts?: AcceptsEnd<Job>) => Promise<readonly EndOutcome[]>,
      ) =>
      async (jobs: readonly Job[], accepts?: AcceptsEnd<Job>): Promise<readonly EndOutcome[]> => {
        const outcomes = await call(jobs, accepts);
        jobs.forEach(({ jobId }, index) => {
          if (outcomes[index] === 'applied') this.#note(jobId, teller);
        });
        return outcomes;
      };
    return {
      ...ledger,
      settle: noted(ledger.settle),
      recordBypass: noted(ledger.recordBypass),
    };
  }

  get told(): ToldEnds {
    return { webhook: this.#webhook, sweep: this.#sweep, healed: this.#healed };
  }

  #note(jobId: number, teller: Teller): void {
    const wasLost = this.#untold.delete(jobId);
    if (teller === 'webhook') this.#webhook += 1;
    else {
      this.#sweep += 1;
      if (wasLost) this.#healed += 1;
    }
  }
}
