/**
 * Finds recent records without an index: job ids increase, so older jobs have lower ids. One read covers a
 * hundred ids, with or without jobs.
 */
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { readInParts } from '../../core/store/parts.ts';

export interface RecordReader {
  readonly readRecords: (jobIds: readonly number[]) => Promise<readonly (JobRecord | undefined)[]>;
  /** Recent job ids: the search starts at the largest. Empty: none is known. */
  readonly recentJobIds: () => Promise<readonly number[]>;
}

export interface CountBounds {
  readonly idsMax: number;
  readonly recordsMax: number;
  readonly deadlineMs: number;
  readonly monotonicMs: () => number;
}

/** Five parallel requests of a hundred keys: admissions have priority on the table. */
const BLOCK_IDS = 500;
/** Jobs that are played by hand or wait for others have ids and no record: so many in a row are the end of the records, or a leap. */
const GAP_IDS_MAX = 10_000;
/** Above the largest known id the ids end soon. */
const GAP_ABOVE_IDS = 1_000;

export interface WalkState {
  /** Known ids below where the walk is, the highest first. */
  readonly known: readonly number[];
  /** The next id above the largest known one; absent: there are no more. */
  readonly above?: number;
  /** The next id below; 0: the walk is over. */
  readonly below: number;
  readonly gap: number;
}

/** Walks up from the largest known id to the newest job, then down to the first block that was decided wholly before an instant. */
export function idWalk(
  reads: Pick<RecordReader, 'readRecords'>,
  sinceMs: number,
  from: WalkState | readonly number[],
) {
  let state = 'below' in from ? from : begin(from);
  return {
    state: (): WalkState => state,
    isOver: (): boolean => state.below < 1,
    async next() {
      const { above, below, gap, known } = state;
      const last = above === undefined ? below : above + BLOCK_IDS - 1;
      const first = firstOf(last);
      const records = await readBlock(reads, last);
      const empty = records.length === 0 ? gap + BLOCK_IDS : 0;
      if (above !== undefined) {
        const isTop = empty >= GAP_ABOVE_IDS;
        state = { known, below, gap: isTop ? 0 : empty, ...(!isTop && { above: last + 1 }) };
      } else if (records.length > 0 && records.every(({ decidedAtMs }) => decidedAtMs < sinceMs)) {
        state = { known, below: 0, gap: 0 };
      } else if (empty >= GAP_IDS_MAX) {
        // After a jump of ids, only a known lower id leads to the rest.
        state = { known, below: known.find((id) => id < first) ?? 0, gap: 0 };
      } else {
        state = { known, below: first - 1, gap: empty };
      }
      return { last, ids: last - first + 1, records };
    },
  };
}

function begin(recent: readonly number[]): WalkState {
  const known = [...recent].sort((a, b) => b - a);
  const [top = 0] = known;
  return { known, below: top, gap: 0, ...(top > 0 && { above: top + 1 }) };
}

const firstOf = (last: number): number => Math.max(1, last - BLOCK_IDS + 1);

export function readBlock(
  reads: Pick<RecordReader, 'readRecords'>,
  last: number,
): Promise<readonly JobRecord[]> {
  const first = firstOf(last);
  return readIds(
    reads,
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
}

export async function readIds(
  { readRecords }: Pick<RecordReader, 'readRecords'>,
  jobIds: readonly number[],
): Promise<readonly JobRecord[]> {
  const records = await readInParts(jobIds, readRecords, BLOCK_IDS);
  return records.filter((record) => record !== undefined);
}

/**
 * The oldest records show from when on all were read, at most this many or a tenth, except for the latest of
 * these, which waited long.
 */
const EDGE_RECORDS_MAX = 100;
const EDGE_PART = 0.1;
const EDGE_SHARE = 0.9;

/**
 * Reads the latest records, by decision. All records since `fromMs` were read; `-Infinity`: there are no earlier ones,
 * Infinity: none was found. @param sinceMs - Unix ms; earlier decisions are not searched for
 */
export async function readRecentRecords(
  reads: RecordReader,
  sinceMs: number,
  { idsMax, recordsMax, deadlineMs, monotonicMs }: CountBounds,
) {
  const known = await reads.recentJobIds();
  if (known.length === 0) return { records: [], fromMs: Number.POSITIVE_INFINITY, idsRead: 0 };
  const walk = idWalk(reads, sinceMs, known);
  const records: JobRecord[] = [];
  let idsRead = 0;
  while (!walk.isOver() && idsRead < idsMax && records.length < recordsMax && monotonicMs() < deadlineMs) {
    const block = await walk.next();
    idsRead += block.ids;
    records.push(...block.records);
  }
  const fromMs = walk.isOver() ? Number.NEGATIVE_INFINITY : edgeOf(records);
  const inOrder = records.toSorted((a, b) => a.decidedAtMs - b.decidedAtMs || a.jobId - b.jobId);
  return { records: inOrder, fromMs, idsRead };
}

function edgeOf(records: readonly JobRecord[]): number {
  const edge = Math.min(EDGE_RECORDS_MAX, Math.ceil(records.length * EDGE_PART));
  const oldest = records.toSorted((a, b) => a.jobId - b.jobId).slice(0, edge);
  const times = oldest.map(({ decidedAtMs }) => decidedAtMs).sort((a, b) => a - b);
  return times[Math.ceil(times.length * EDGE_SHARE) - 1] ?? Number.POSITIVE_INFINITY;
}
