import type { JobEnd, Ledger } from '../../functions/core/ledger/index.ts';
import type { AnsweredEvent } from './decision-line.ts';

/** Ends are settled together, as they are behind GitLab's webhooks. */
const SETTLE_EVERY_MS = 100;

/**
 * Jobs on real runners whose end this machine does not hear of: each is taken to last as long as estimated. Nothing would
 * ever be given back otherwise.
 */
export class EstimatedLives {
  readonly #ledger: Ledger;
  readonly #running = new Map<number, JobEnd>();
  #ended: JobEnd[] = [];
  #settling: Promise<unknown> = Promise.resolve();
  readonly #flushTimer: NodeJS.Timeout;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#flushTimer = setInterval(() => this.#flush(), SETTLE_EVERY_MS);
  }

  /** It starts now. What the fallback admitted is charged by what the relay posts later. */
  admitted({ request, decision }: AnsweredEvent): void {
    if (request === undefined || decision?.outcome !== 'admitted') return;
    const { jobId } = request;
    const estimateSeconds = decision.terms?.estimateSeconds ?? 0;
    const livesMs = estimateSeconds * 1000;
    this.#running.set(jobId, { jobId, durationSeconds: estimateSeconds, endedAtMs: Date.now() + livesMs });
    setTimeout(() => this.#end(jobId), livesMs).unref();
  }

  get running(): number {
    return this.#running.size;
  }

  /** Ends what still runs and settles everything. */
  async close(): Promise<void> {
    clearInterval(this.#flushTimer);
    for (const jobId of [...this.#running.keys()]) this.#end(jobId);
    this.#flush();
    await this.#settling;
  }

  #end(jobId: number): void {
    const end = this.#running.get(jobId);
    if (end === undefined) return;
    this.#running.delete(jobId);
    this.#ended.push(end);
  }

  #flush(): void {
    if (this.#ended.length === 0) return;
    const ends = this.#ended;
    this.#ended = [];
    this.#settling = this.#settling.then(() => this.#ledger.settle(ends));
  }
}
