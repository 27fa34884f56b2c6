import { isAwaited, type JobRecord, type LedgerStore } from '../../core/ledger/index.ts';

/** 16 bytes each. */
const JOBS_MAX = 5_000_000;
const BATCH = 100;
const READ_TIMEOUT_MS = 15_000;

/**
 * Records in the order of their decisions. A table is scanned in no order, so the first walk keeps only when each job
 * was decided, and the second reads the records batch by batch: memory does not grow with what they say.
 *
 * @throws {Error} with the remedy, when there are too many.
 */
export async function* jobsInOrder(
  store: LedgerStore,
  wanted: (record: JobRecord) => boolean,
): AsyncGenerator<JobRecord> {
  const order = new DecisionOrder();
  for await (const item of store.scan()) {
    if (item.kind === 'record' && !isAwaited(item.record) && wanted(item.record))
      order.add(item.record.decidedAtMs, item.record.jobId);
  }
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const jobIds of order.batches()) {
    const records = await store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS });
    for (const record of records) {
      // Decided again since it was scanned, at a later time.
      if (record === undefined || !wanted(record) || record.decidedAtMs < lastMs) continue;
      lastMs = record.decidedAtMs;
      yield record;
    }
  }
}

class DecisionOrder {
  #decidedAtMs = new Float64Array(1024);
  #jobIds = new Float64Array(1024);
  #size = 0;

  add(decidedAtMs: number, jobId: number): void {
    if (this.#size >= JOBS_MAX)
      throw new Error(`more than ${JOBS_MAX} jobs to replay: choose a shorter time with --since`);
    if (this.#size === this.#jobIds.length) {
      this.#decidedAtMs = doubled(this.#decidedAtMs);
      this.#jobIds = doubled(this.#jobIds);
    }
    this.#decidedAtMs[this.#size] = decidedAtMs;
    this.#jobIds[this.#size] = jobId;
    this.#size += 1;
  }

  *batches(): Generator<readonly number[]> {
    const [times, ids] = [this.#decidedAtMs, this.#jobIds];
    const places = new Uint32Array(this.#size).map((_, index) => index);
    // Job ids are handed out one by one: the smaller of two from one instant came first.
    places.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || (ids[a] ?? 0) - (ids[b] ?? 0));
    for (let from = 0; from < places.length; from += BATCH)
      yield [...places.subarray(from, from + BATCH)].map((place) => ids[place] ?? 0);
  }
}

function doubled(from: Float64Array): Float64Array<ArrayBuffer> {
  const made = new Float64Array(from.length * 2);
  made.set(from);
  return made;
}
