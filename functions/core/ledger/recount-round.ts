/**
 * Compares every counter with its records, in rounds through the whole table that take between a day and a week.
 *
 * 1. Each run reads the segments of the table that are due by now, and adds their items up.
 * 2. The sums and the place in each segment are written down every three minutes and at the end of a run.
 * 3. A counter that differs from its records when all segments are read is a suspect. One that differed in the same way in the round
 *    before, with the same `rev`, drifts.
 */

import { gunzipSync, gzipSync } from 'node:zlib';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { atOnce } from '../environment/environment.ts';
import { itemAt, readItem, type SingleItem, timedTable, writeItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { atRev, type InstanceTable, TTL_ATTRIBUTE } from '../store/operation.ts';
import { inParts } from '../store/parts.ts';
import { LedgerError } from '../store/table-failure.ts';
import type { AttemptDeps } from './attempt.ts';
import type { Counter, CounterAmounts, JobRecord, RebuildReport } from './ledger.ts';
import { findSuspects, markDrift, READ_TIMEOUT_MS, revOf } from './rebuild.ts';
import {
  COUNTERS_MAX,
  driftOf,
  type KeptSums,
  NO_SUMS,
  Recount,
  recountedAmounts,
  sameAmounts,
} from './recount.ts';
import type { LedgerStore, SegmentAsk, SegmentStore } from './store.ts';

export interface RecountRound {
  readonly startedAtMs: number;
  /** The number of records that the round before met. Absent: there was none. */
  readonly lastRecords?: number;
  /** Segments that were read to their end, or the places where they go on. */
  readonly segments: readonly { readonly done: boolean; readonly from?: SegmentAsk['from'] }[];
  readonly sums: KeptSums;
  readonly suspects: readonly SuspectCounter[];
  readonly usage?: UsageCheck;
}

export interface UsageCheck {
  readonly jobs: number;
  /** Part of `jobs`: usage lacked them, or had them otherwise, and has them now. */
  readonly mended: number;
  readonly failed: number;
}

interface SuspectCounter {
  readonly key: CounterKey;
  readonly rev: number;
  readonly expected: CounterAmounts;
}

type Found = Omit<RebuildReport, 'repaired'>;

/** A write throws `ledger_unavailable` also if another run has written since this one read. */
export type RecountRounds = SingleItem<RecountRound>;

export interface RecordVisit {
  see(record: JobRecord): void;
  seeCounter(counter: Counter): void;
  isFull(): boolean;
  /** Runs before progress is written down. After a run that was killed the same items may come again. */
  work(): Promise<UsageCheck | undefined>;
}

interface RecountDeps extends AttemptDeps {
  readonly store: LedgerStore & SegmentStore;
  readonly rounds: RecountRounds;
  readonly visit: RecordVisit;
  readonly onOver: (found: Found, round: Omit<RecountRound, 'sums'>) => Promise<void>;
  readonly segments?: number;
  readonly keepEveryMs?: number;
}

/** One for each hour of a week: a run has at least one, and seven if the round takes a day. */
const SEGMENTS = 168;
const SEGMENTS_AT_ONCE = 8;
const KEEP_EVERY_MS = 180_000;
const SUSPECTS_MAX = 20_000;
const COUNTERS_AT_ONCE = 1_000;
/** With a million jobs a month, whose four million records are kept, reading twice as fast would cost half a dollar more. */
const RECORDS_A_DAY = 1_000_000;
const DAYS_MAX = 7;

export const roundMs = (records: number): number =>
  DAY_MS * Math.min(DAYS_MAX, Math.max(1, records / RECORDS_A_DAY));

/** Segments that are to be read by now. The first round of a table does not wait: pages rank by its counters. */
export function segmentsDue(
  { startedAtMs, lastRecords, segments }: Pick<RecountRound, 'startedAtMs' | 'lastRecords' | 'segments'>,
  nowMs: number,
): number {
  if (lastRecords === undefined) return segments.length;
  const share = (nowMs - startedAtMs) / roundMs(lastRecords);
  return Math.min(segments.length, Math.ceil(share * segments.length));
}

/** Reads on as far as the round is due. Its end begins the next. @throws {LedgerError} `ledger_unavailable`: the next call goes on. */
export async function recountOn(deadlineMs: number, deps: RecountDeps): Promise<'under way' | 'over'> {
  const { rounds, clock } = deps;
  let round = (await rounds.read()) ?? begun([], deps);
  while (clock.monotonicMs() < deadlineMs && dueSegments(round, clock.nowMs()).length > 0) {
    const { sums, ...read } = await readOn(round, deadlineMs, deps);
    if (read.segments.some(({ done }) => !done)) {
      round = { ...read, sums: sums.kept() };
      await rounds.write(round);
      continue;
    }
    const { found, suspects } = await judge(read.suspects, sums, deps);
    await deps.onOver(found, read);
    await rounds.write(begun(suspects, deps, found.records));
    return 'over';
  }
  return 'under way';
}

const begun = (
  suspects: readonly SuspectCounter[],
  { clock, segments = SEGMENTS }: RecountDeps,
  lastRecords?: number,
): RecountRound => ({
  ...{ startedAtMs: clock.nowMs(), suspects, sums: NO_SUMS },
  ...(lastRecords !== undefined && { lastRecords }),
  segments: Array.from({ length: segments }, () => ({ done: false })),
});

const dueSegments = (round: RecountRound, nowMs: number): readonly number[] =>
  [...Array(segmentsDue(round, nowMs)).keys()].filter((index) => round.segments[index]?.done === false);

/** Reads segments that are due, page by page, for three minutes at most. */
async function readOn(round: RecountRound, deadlineMs: number, deps: RecountDeps) {
  const { store, clock, visit, keepEveryMs = KEEP_EVERY_MS } = deps;
  const untilMs = Math.min(deadlineMs, clock.monotonicMs() + keepEveryMs);
  const segments = [...round.segments];
  const sums = new Recount(round.sums, COUNTERS_MAX);
  let hasRead = false;
  // At least one page, or runs whose time is too short would never end a round.
  const goesOn = (): boolean => !hasRead || (clock.monotonicMs() < untilMs && !visit.isFull());
  await atOnce(dueSegments(round, clock.nowMs()), SEGMENTS_AT_ONCE, async (index) => {
    while (segments[index]?.done === false && goesOn()) {
      hasRead = true;
      const { from } = segments[index];
      const segment = { index, of: segments.length };
      const { items, next } = await store.scanSegment({ segment, ...(from && { from }) });
      for (const item of items) {
        sums.add(item);
        if (item.kind === 'record') visit.see(item.record);
        if (item.kind === 'counter') visit.seeCounter(item.counter);
      }
      segments[index] = next === undefined ? { done: true } : { done: false, from: next };
    }
  });
  const usage = sumOfLooks(round.usage, await visit.work());
  return { ...round, segments, sums, ...(usage !== undefined && { usage }) };
}

function sumOfLooks(before: UsageCheck | undefined, now: UsageCheck | undefined): UsageCheck | undefined {
  if (before === undefined || now === undefined) return before ?? now;
  const sum = (name: keyof UsageCheck): number => before[name] + now[name];
  return { jobs: sum('jobs'), mended: sum('mended'), failed: sum('failed') };
}

/**
 * A counter that has the mark drifts until it agrees again. Reads need not be consistent: a counter that kept its `rev` since the
 * round before was not written for hours, nor were its records.
 */
async function judge(
  before: readonly SuspectCounter[],
  recount: Recount,
  deps: RecountDeps,
): Promise<{ readonly found: Found; readonly suspects: readonly SuspectCounter[] }> {
  const { suspects: lines, unproven } = findSuspects(recount, deps.clock.nowMs());
  const differing = lines.slice(0, SUSPECTS_MAX).map((line) => ({
    ...{ key: line.key, rev: revOf(line.counter), expected: recountedAmounts(line) },
  }));
  const suspects = await unwritten(differing, deps);
  const known = new Map(before.map((suspect) => [counterName(suspect.key), suspect]));
  const isSame = ({ key, rev, expected }: SuspectCounter): boolean => {
    const last = known.get(counterName(key));
    return last?.rev === rev && sameAmounts(last.expected, expected);
  };
  const again = new Set(suspects.filter(isSame).map(({ key }) => counterName(key)));
  const drifted = lines.filter(({ key, counter }) => counter?.drifts === true || again.has(counterName(key)));
  const { records, passedOver } = recount;
  if (passedOver === 0) await markDrift(recount, new Set(drifted), deps);
  const drift = drifted.map(driftOf);
  return { found: { records, counters: recount.lines.size, passedOver, unproven, drift }, suspects };
}

async function unwritten(
  suspects: readonly SuspectCounter[],
  { store }: RecountDeps,
): Promise<readonly SuspectCounter[]> {
  const still: SuspectCounter[] = [];
  for (const part of inParts(suspects, COUNTERS_AT_ONCE)) {
    const keys = part.map(({ key }) => key);
    const now = await store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS });
    still.push(...part.filter(({ rev }, index) => revOf(now[index]) === rev));
  }
  return still;
}

const TIMEOUT_MS = 10_000;
const PART_BYTES_MAX = 300_000;
const AT_ONCE = 8;
/** A round that no run went on with for so long begins again. */
const KEPT_SECONDS = 3 * 86_400;

const REV = 'rv';
const PARTS = 'pa';
const BYTES = 'by';
/** The form of the text, so that another release begins again instead of misreading it. */
const FORM = 'fo';
const FORM_NOW = 1;

/** Parts are written before the head names them, so a reader finds a whole round at any time. A small round is in the head. */
export function dynamoRecountRounds({
  table,
  instance,
  nowMs,
  partBytes = PART_BYTES_MAX,
}: InstanceTable & { readonly nowMs: () => number; readonly partBytes?: number }): RecountRounds {
  const keys = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  const what = 'where the recount stands';
  let rev = 0;

  return {
    async read() {
      const head = await readItem(timed, what, keys.recountRound);
      rev = Number(head?.[REV]?.N ?? 0);
      if (head === undefined || Number(head[FORM]?.N) !== FORM_NOW) return undefined;
      const own = head[BYTES]?.B;
      const parts = own === undefined ? [] : [own];
      await atOnce([...Array(Number(head[PARTS]?.N)).keys()], AT_ONCE, async (part) => {
        const item = await readItem(timed, what, keys.recountPart(rev, part));
        parts[part] = item?.[BYTES]?.B ?? new Uint8Array();
      });
      // Parts of a round that no run went on with are gone.
      if (parts.some(({ length }) => length === 0)) return undefined;
      return JSON.parse(gunzipSync(Buffer.concat(parts)).toString()) as RecountRound;
    },
    async write(round) {
      const bytes = gzipSync(JSON.stringify(round));
      const parts = bytes.length <= partBytes ? 0 : Math.ceil(bytes.length / partBytes);
      const next = rev + 1;
      await atOnce([...Array(parts).keys()], AT_ONCE, async (part) => {
        const item = itemAt(keys.recountPart(next, part), {
          [BYTES]: { B: bytes.subarray(part * partBytes, (part + 1) * partBytes) },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs() / 1000) + KEPT_SECONDS) },
        });
        await writeItem(timed, what, item);
      });
      const head = itemAt(keys.recountRound, {
        [REV]: { N: String(next) },
        [FORM]: { N: String(FORM_NOW) },
        [PARTS]: { N: String(parts) },
        ...(parts === 0 && { [BYTES]: { B: bytes } }),
      });
      if (!(await writeItem(timed, what, head, atRev(REV, rev))))
        throw new LedgerError('ledger_unavailable', 'another run goes on with the recount');
      rev = next;
    },
  };
}
