/**
 * The records of the last days without an index of them: job ids are handed out one by one, so the jobs before a known
 * one have the ids below it. A hundred ids are one read, whether there is a job or not.
 */
import type { JobRecord } from '../../core/ledger/index.ts';

export interface RecordReader {
  /** One per job id, same order. */
  readonly readRecords: (jobIds: readonly number[]) => Promise<readonly (JobRecord | undefined)[]>;
  /** Ids of jobs that were decided lately: the search begins at the largest of them. Empty: nobody knows any. */
  readonly recentJobIds: () => Promise<readonly number[]>;
}

export interface ReadBounds {
  /** Ids asked for, with those of which there is no record. */
  readonly idsMax: number;
  readonly recordsMax: number;
  /** On `monotonicMs`. */
  readonly deadlineMs: number;
  readonly monotonicMs: () => number;
}

interface RecentRecords {
  /** In the order of their decisions. */
  readonly records: readonly JobRecord[];
  /** What was decided from here on is there. `-Infinity`: there is nothing before. Infinity: nothing was found. */
  readonly fromMs: number;
  readonly idsRead: number;
}

/** Five requests of a hundred keys at once: the table is there for admissions. */
const BLOCK_IDS = 500;
/** Jobs that are played by hand or wait for others have ids and no record: so many in a row are the end of the books, or a leap. */
const GAP_IDS_MAX = 10_000;
/** Above the largest known id the ids end soon. */
const GAP_ABOVE_IDS = 1_000;
/**
 * The oldest records that were read, at most so many and a tenth, tell to when everything was; but for the latest of
 * them, which waited long.
 */
const EDGE_RECORDS_MAX = 100;
const EDGE_PART = 0.1;
const EDGE_SHARE = 0.9;

/** @param sinceMs - Unix ms; what was decided before is not looked for. */
export async function readRecentRecords(
  reads: RecordReader,
  sinceMs: number,
  bounds: ReadBounds,
): Promise<RecentRecords> {
  const walk = new Walk(reads, bounds);
  const known = [...(await reads.recentJobIds())].sort((a, b) => b - a);
  const [top = 0] = known;
  if (top === 0) return { records: [], fromMs: Number.POSITIVE_INFINITY, idsRead: 0 };
  for (let first = top + 1, gap = 0; gap < GAP_ABOVE_IDS && walk.mayGoOn; first += BLOCK_IDS) {
    const { length } = await walk.read(first, first + BLOCK_IDS - 1);
    gap = length === 0 ? gap + BLOCK_IDS : 0;
  }
  let isWhole = false;
  for (let last = top, gap = 0; !isWhole && walk.mayGoOn; ) {
    const first = Math.max(1, last - BLOCK_IDS + 1);
    const found = await walk.read(first, last);
    gap = found.length === 0 ? gap + BLOCK_IDS : 0;
    const isBefore = found.length > 0 && found.every(({ decidedAtMs }) => decidedAtMs < sinceMs);
    last = first - 1;
    if (gap >= GAP_IDS_MAX) {
      gap = 0;
      // Where the ids made a leap, only somebody who knows one below it finds the rest.
      last = known.find((id) => id < first) ?? 0;
    }
    isWhole = isBefore || last < 1;
  }
  const { records, idsRead } = walk;
  const fromMs = isWhole ? Number.NEGATIVE_INFINITY : edgeOf(records);
  const inOrder = records.toSorted((a, b) => a.decidedAtMs - b.decidedAtMs || a.jobId - b.jobId);
  return { records: inOrder, fromMs, idsRead };
}

class Walk {
  readonly records: JobRecord[] = [];
  idsRead = 0;
  readonly #reads: RecordReader;
  readonly #bounds: ReadBounds;

  constructor(reads: RecordReader, bounds: ReadBounds) {
    this.#reads = reads;
    this.#bounds = bounds;
  }

  get mayGoOn(): boolean {
    const { idsMax, recordsMax, deadlineMs, monotonicMs } = this.#bounds;
    return this.idsRead < idsMax && this.records.length < recordsMax && monotonicMs() < deadlineMs;
  }

  async read(first: number, last: number): Promise<readonly JobRecord[]> {
    const jobIds = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const read = await this.#reads.readRecords(jobIds);
    const found = read.filter((record) => record !== undefined);
    this.idsRead += jobIds.length;
    this.records.push(...found);
    return found;
  }
}

function edgeOf(records: readonly JobRecord[]): number {
  const edge = Math.min(EDGE_RECORDS_MAX, Math.ceil(records.length * EDGE_PART));
  const oldest = records.toSorted((a, b) => a.jobId - b.jobId).slice(0, edge);
  const times = oldest.map(({ decidedAtMs }) => decidedAtMs).sort((a, b) => a - b);
  return times[Math.ceil(times.length * EDGE_SHARE) - 1] ?? Number.POSITIVE_INFINITY;
}
