/** How long holds, and with them slots, stayed taken after their job was over. */
import { isLive, type JobRecord } from '../../../functions/core/ledger/index.ts';
import type { SimulatedRun } from './simulated-gitlab.ts';
import { OUTAGE, TABLE_SILENT } from './workload.ts';

export interface SlotTimes {
  /** Holds that were live after their job's end. */
  readonly wronglyTaken: number;
  /** Milliseconds from the end of a job to that of its hold; all holds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The same where it is none of the exceptions below. */
  readonly maxMs: number;
  /** The longest while GitLab or the table did not answer. */
  readonly maxWhileSilentMs: number;
  /** The longest of jobs that GitLab does not know any more: they keep their hold until it is due. */
  readonly maxForgottenMs: number;
}

export class SlotWatch {
  readonly #run: (jobId: number) => SimulatedRun | undefined;
  readonly #liveSinceMs = new Map<number, number>();
  readonly #timesMs: number[] = [];
  #maxMs = 0;
  #maxWhileSilentMs = 0;
  #maxForgottenMs = 0;

  constructor(run: (jobId: number) => SimulatedRun | undefined) {
    this.#run = run;
  }

  /** Told of every record as it is written. */
  written(record: JobRecord, nowMs: number): void {
    const { jobId } = record;
    const sinceMs = this.#liveSinceMs.get(jobId);
    if (isLive(record)) {
      if (sinceMs === undefined) this.#liveSinceMs.set(jobId, nowMs);
      return;
    }
    if (sinceMs === undefined) return;
    this.#liveSinceMs.delete(jobId);
    const run = this.#run(jobId);
    if (run === undefined) return;
    // What the fallback let go on holds from when it was posted.
    const overMs = Math.max(run.endsAtMs, sinceMs);
    const takenMs = Math.max(0, nowMs - overMs);
    this.#timesMs.push(takenMs);
    if (run.job.fate === 'vanished') this.#maxForgottenMs = Math.max(this.#maxForgottenMs, takenMs);
    else if (isTouchedBySilence(overMs, nowMs))
      this.#maxWhileSilentMs = Math.max(this.#maxWhileSilentMs, takenMs);
    else this.#maxMs = Math.max(this.#maxMs, takenMs);
  }

  get times(): SlotTimes {
    const sorted = this.#timesMs.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
    return {
      wronglyTaken: sorted.filter((timeMs) => timeMs > 0).length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: this.#maxMs,
      maxWhileSilentMs: this.#maxWhileSilentMs,
      maxForgottenMs: this.#maxForgottenMs,
    };
  }
}

const isTouchedBySilence = (fromMs: number, untilMs: number): boolean =>
  [OUTAGE, TABLE_SILENT].some((silence) => fromMs < silence.untilMs && untilMs > silence.fromMs);
