/**
 * Counts which jobs of the last days an edit would have failed, in as many calls as it takes.
 *
 * 1. Walk down the job ids until everything is found that was decided since the earliest period began which was open on the
 *    first of these days. Of each block of ids, keep when its earliest job was decided.
 * 2. Read the blocks again, the lowest ids first. A job is replayed once no block that is left has an earlier one: in the order of
 *    the decisions, however long some jobs waited.
 *
 * A call that is out of bounds returns its state, and the next one continues there. Few jobs are one call and one read.
 */

import type { Directory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../../core/ledger/reservation.ts';
import {
  type CountBounds,
  idWalk,
  type RecordReader,
  readBlock,
  readIds,
  type WalkState,
} from './id-walk.ts';
import { Replay, type ReplayedJob, type ReplayState } from './replay.ts';
import { ReplayRequests } from './replay-requests.ts';
import { earliestPeriodMs, jobsThatMatter } from './replayed-jobs.ts';

export interface CompareEdit {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly policy: Policy;
  readonly directory: Directory;
  readonly before: LimitSet;
  readonly after: LimitSet;
  /** Receives each job of the span with its decisions under both sets. Undefined: it had no admission request. */
  readonly onJob: (record: JobRecord, asIs?: ReplayedJob, edited?: ReplayedJob) => void;
}

/** Jobs that run when the earliest period begins take their amounts, too. */
const LONG_JOB_MS = DAY_MS;

interface CountJobs extends CompareEdit {
  readonly reads: RecordReader;
  readonly bounds: CountBounds;
  readonly from?: CountState | undefined;
}

export interface CountState {
  readonly walk: WalkState;
  /** Blocks that are not replayed: the highest id, and when its earliest job was decided. The highest ids first. */
  readonly blocks: readonly Block[];
  /** Jobs of blocks that are, decided after the earliest job of a block that is not. */
  readonly waiting: readonly number[];
  readonly replays: readonly [ReplayState, ReplayState];
  readonly jobsRead: number;
}

type Block = readonly [lastId: number, earliestMs: number];

export interface Counted {
  /** Everything decided before is counted. Equal to `sinceMs` without `next`: no recent job is known. */
  readonly countedToMs: number;
  readonly jobsRead: number;
  readonly next?: CountState;
}

/** Replays jobs under both sets, and reports those of the span. */
export function comparedReplays(edit: CompareEdit, from?: CountState['replays']) {
  const { sinceMs, policy, directory, before, after, onJob } = edit;
  const replayOf = (limits: LimitSet, state: ReplayState | undefined): Replay =>
    new Replay(new ReplayRequests({ policy, limits, directory }), sinceMs, { from: state });
  const [now, then] = [replayOf(before, from?.[0]), replayOf(after, from?.[1])];
  return {
    next(record: JobRecord): void {
      const [asIs, edited] = [now.next(record), then.next(record)];
      if (record.decidedAtMs >= sinceMs) onJob(record, asIs, edited);
    },
    state: (atMs: number): CountState['replays'] => [now.state(atMs), then.state(atMs)],
  };
}

export async function countJobs(request: CountJobs): Promise<Counted> {
  const { sinceMs, untilMs, before, after, reads, bounds, from } = request;
  const replays = comparedReplays(request, from?.replays);
  const matters = jobsThatMatter(request, before, after);
  const isWanted = (record: JobRecord): boolean => !hasNoAdmissionRequest(record) && matters(record);
  const fromMs = earliestPeriodMs(sinceMs, before, after);
  const walk = idWalk(reads, fromMs - LONG_JOB_MS, from?.walk ?? (await reads.recentJobIds()));
  if (from === undefined && walk.isOver()) return { countedToMs: sinceMs, jobsRead: 0 };
  const blocks = [...(from?.blocks ?? [])];
  const found = new Map<number, readonly JobRecord[]>();
  let [ids, records, jobsRead] = [0, 0, from?.jobsRead ?? 0];
  const mayRead = (): boolean =>
    ids < bounds.idsMax && records < bounds.recordsMax && bounds.monotonicMs() < bounds.deadlineMs;
  const stopAt = (countedToMs: number, waiting: readonly JobRecord[]): Counted => ({
    ...{ countedToMs: Math.min(untilMs, Math.max(sinceMs, countedToMs)), jobsRead },
    next: {
      ...{ walk: walk.state(), blocks, waiting: waiting.map(({ jobId }) => jobId), jobsRead },
      replays: replays.state(countedToMs),
    },
  });

  while (!walk.isOver()) {
    if (!mayRead()) return stopAt(sinceMs, []);
    const block = await walk.next();
    ids += block.ids;
    const wanted = block.records.filter(isWanted);
    if (wanted.length === 0) continue;
    records += wanted.length;
    blocks.push([block.last, Math.min(...wanted.map(({ decidedAtMs }) => decidedAtMs))]);
    found.set(block.last, wanted);
  }
  blocks.sort(([a], [b]) => b - a);
  const earliest = runningLeast(blocks.map(([, earliestMs]) => earliestMs));
  let lastMs = earliest.at(-1) ?? Number.NEGATIVE_INFINITY;
  let waiting = (await readIds(reads, from?.waiting ?? [])).filter(isWanted);
  for (let block = blocks.at(-1); block !== undefined; block = blocks.at(-1)) {
    const [last] = block;
    let wanted = found.get(last);
    if (wanted === undefined) {
      if (!mayRead()) return stopAt(lastMs, waiting);
      wanted = (await readBlock(reads, last)).filter(isWanted);
      records += wanted.length;
    }
    blocks.pop();
    jobsRead += wanted.length;
    const dueMs = earliest[blocks.length - 1] ?? Number.POSITIVE_INFINITY;
    const inOrder = [...waiting, ...wanted].sort(
      (a, b) => a.decidedAtMs - b.decidedAtMs || a.jobId - b.jobId,
    );
    waiting = inOrder.filter(({ decidedAtMs }) => decidedAtMs >= dueMs);
    for (const record of inOrder.slice(0, inOrder.length - waiting.length)) {
      // Decided again since its block was found, or during the replay.
      if (record.decidedAtMs < lastMs) continue;
      lastMs = record.decidedAtMs;
      replays.next(record);
    }
    lastMs = dueMs;
    if (blocks.length > 0 && bounds.monotonicMs() >= bounds.deadlineMs) return stopAt(dueMs, waiting);
  }
  return { countedToMs: untilMs, jobsRead };
}

const runningLeast = (all: readonly number[]): readonly number[] => {
  let least = Number.POSITIVE_INFINITY;
  return all.map((each) => {
    least = Math.min(least, each);
    return least;
  });
};
