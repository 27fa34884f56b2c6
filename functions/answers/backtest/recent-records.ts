import type { JobRecord } from '../../core/ledger/index.ts';
import type { CountBounds } from './count-jobs.ts';
import { IdWalk, type RecordReader } from './id-walk.ts';

interface RecentRecords {
  /** In the order of their decisions. */
  readonly records: readonly JobRecord[];
  /**
   * All records since this instant were read. `-Infinity`: there are no earlier ones. Infinity: none was
   * found.
   */
  readonly fromMs: number;
  readonly idsRead: number;
}

/**
 * The oldest records show from when on all were read, at most this many or a tenth, except for the latest of
 * these, which waited long.
 */
const EDGE_RECORDS_MAX = 100;
const EDGE_PART = 0.1;
const EDGE_SHARE = 0.9;

/** @param sinceMs - Unix ms; what was decided before is not looked for. */
export async function readRecentRecords(
  reads: RecordReader,
  sinceMs: number,
  { idsMax, recordsMax, deadlineMs, monotonicMs }: CountBounds,
): Promise<RecentRecords> {
  const known = await reads.recentJobIds();
  if (known.length === 0) return { records: [], fromMs: Number.POSITIVE_INFINITY, idsRead: 0 };
  const walk = new IdWalk(reads, sinceMs, known);
  const records: JobRecord[] = [];
  let idsRead = 0;
  while (!walk.isOver && idsRead < idsMax && records.length < recordsMax && monotonicMs() < deadlineMs) {
    const block = await walk.next();
    idsRead += block.ids;
    records.push(...block.records);
  }
  const fromMs = walk.isOver ? Number.NEGATIVE_INFINITY : edgeOf(records);
  const inOrder = records.toSorted((a, b) => a.decidedAtMs - b.decidedAtMs || a.jobId - b.jobId);
  return { records: inOrder, fromMs, idsRead };
}

function edgeOf(records: readonly JobRecord[]): number {
  const edge = Math.min(EDGE_RECORDS_MAX, Math.ceil(records.length * EDGE_PART));
  const oldest = records.toSorted((a, b) => a.jobId - b.jobId).slice(0, edge);
  const times = oldest.map(({ decidedAtMs }) => decidedAtMs).sort((a, b) => a - b);
  return times[Math.ceil(times.length * EDGE_SHARE) - 1] ?? Number.POSITIVE_INFINITY;
}
