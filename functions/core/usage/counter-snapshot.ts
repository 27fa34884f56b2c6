/**
 * Copies of all counters in a few items. A page that ranks ten thousand budgets reads these instead of each counter.
 *
 * 1. The rollup appends the counters that a batch of the stream changed to a log, one item for each batch.
 * 2. The hourly run of `functions/drift` folds the log into the snapshot. It alone writes the snapshot.
 * 3. Pages read the snapshot and the newest items of the log.
 *
 * Of two copies the one with the higher `rev` counts, so a batch may come twice, late, and after a younger one.
 */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type CounterKey, counterName, isPipelineCounter } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Counter } from '../ledger/ledger.ts';
import { NO_AMOUNTS } from '../ledger/recount.ts';
import { goesUnclosed, isWindow } from '../ledger/retention.ts';
import {
  type BatchGetDeps,
  batchGet,
  getItem,
  itemAt,
  putItem,
  queryPage,
  queryPages,
} from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import {
  atRev,
  type InstanceTable,
  type Item,
  type ItemCondition,
  type QueryAsk,
  TimeLimit,
  TTL_ATTRIBUTE,
} from '../store/operation.ts';
import { answered, LedgerError, unavailable } from '../store/table-failure.ts';

export interface CounterSnapshot {
  /** When it was begun, Unix ms. A recount that began later has met every counter that was there before. */
  readonly sinceMs: number;
  /** Changes before this instant are in it, Unix ms. */
  readonly atMs: number;
  /** A recount has met every counter since. A counter that a complete snapshot lacks is 0. */
  readonly complete: boolean;
  /** By name; of each limit's periods the last two. */
  readonly counters: ReadonlyMap<string, Counter>;
}

export type CounterSnapshots = ReturnType<typeof dynamoCounterSnapshots>;

/** Some 15 bytes each, packed. If there are more, pages read each counter. */
const COUNTERS_MAX = 60_000;
const PERIODS_KEPT = 2;
const TIMEOUT_MS = 10_000;
/** A thousand pages of log: a day of 500 jobs a second, after a failure. */
const FOLD_TIMEOUT_MS = 120_000;
const PART_BYTES_MAX = 300_000;
/** An item of the log is written under the time before its write, by the writer's clock. */
const LATE_MS = 300_000;
/** After so long without a fold the snapshot begins again: DynamoDB deletes the log a day later. */
const UNFOLDED_MS_MAX = DAY_MS;
const LOG_KEPT_SECONDS = 2 * 86_400;

const REV = 'rv';
const HEAD = 'he';
const BYTES = 'by';
/** The head and the parts of one write have the same. */
const WRITE = 'wr';

/** Writes take turns between two places, so a reader of a head finds its parts until the write after the next. */
interface Head extends Omit<CounterSnapshot, 'counters'> {
  readonly turn: number;
  readonly parts: number;
  readonly write: string;
}

interface Stored {
  readonly rev: number;
  readonly turn: number;
  readonly snapshot?: CounterSnapshot;
}

/** Subject, committed, fitted, settled, rev, and the unchecked amounts where there are any. */
type PackedCounter = readonly [string, number, number, number, number, Counter['unchecked']?];
/** By limit, then by period: names repeat in thousands. */
type PackedCounters = readonly (readonly [string, string, readonly PackedCounter[]])[];

/** Counters of pipelines, windows, users and caps are not copied: they live for days, or there are too many. */
export const isInSnapshot = (key: CounterKey): boolean =>
  !isPipelineCounter(key) && !isWindow(key) && !goesUnclosed(key);

interface SnapshotOptions extends InstanceTable, BatchGetDeps {
  readonly partBytes?: number;
}

/** @throws {LedgerError} `ledger_unavailable`, each function */
export function dynamoCounterSnapshots({ partBytes = PART_BYTES_MAX, ...deps }: SnapshotOptions) {
  const { table, instance, clock } = deps;
  const keys = ledgerKeys(instance);
  const within = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    answered(`${what} the snapshot of counters`, unavailable(table), work);
  const put = (item: Item, condition?: ItemCondition) =>
    putItem(table, item, new TimeLimit(TIMEOUT_MS), condition);
  const partKeys = (turn: number, parts: number) =>
    Array.from({ length: parts }, (_, part) => keys.counterSnapshotPart(turn, part));

  async function readStored(): Promise<Stored> {
    const head = await getItem(table, keys.counterSnapshot, new TimeLimit(TIMEOUT_MS));
    const rev = Number(head?.[REV]?.N ?? 0);
    if (head?.[HEAD]?.S === undefined) return { rev, turn: 1 };
    const { turn, parts, write, ...about } = JSON.parse(head[HEAD].S) as Head;
    const found = await batchGet(partKeys(turn, parts), TIMEOUT_MS, deps, { consistent: false });
    if (found.some((part) => part?.[WRITE]?.S !== write)) return { rev, turn };
    const bytes = Buffer.concat(found.map((part) => part?.[BYTES]?.B ?? new Uint8Array()));
    const counters = unpacked(bytes).map((counter) => [counterName(counter.key), counter] as const);
    return { rev, turn, snapshot: { ...about, counters: new Map(counters) } };
  }

  async function write(before: Stored, { counters, ...about }: CounterSnapshot): Promise<void> {
    const bytes = packed(counters.values());
    const turn = 1 - before.turn;
    const id = randomBytes(6).toString('base64url');
    const places = partKeys(turn, Math.ceil(bytes.length / partBytes));
    for (const [part, key] of places.entries()) {
      const own = bytes.subarray(part * partBytes, (part + 1) * partBytes);
      await put(itemAt(key, { [WRITE]: { S: id }, [BYTES]: { B: own } }));
    }
    const head: Head = { ...about, turn, parts: places.length, write: id };
    const { outcome } = await put(
      itemAt(keys.counterSnapshot, {
        [REV]: { N: String(before.rev + 1) },
        [HEAD]: { S: JSON.stringify(head) },
      }),
      atRev(REV, before.rev),
    );
    if (outcome === 'refused')
      throw new LedgerError('ledger_unavailable', 'another run writes the snapshot of counters');
  }

  const change = (
    what: string,
    next: (before: CounterSnapshot | undefined) => Promise<CounterSnapshot | undefined>,
  ): Promise<void> =>
    within(what, async () => {
      const stored = await readStored();
      const snapshot = await next(stored.snapshot);
      if (snapshot === undefined) return;
      // Without room for all counters it begins again, so the recount under way does not complete it.
      const isFull = snapshot.counters.size > COUNTERS_MAX;
      await write(stored, isFull ? emptySnapshot(clock.nowMs(), snapshot.atMs) : snapshot);
    });

  const logSince = (atMs: number, consistent: boolean): QueryAsk => {
    const { pk, sk } = keys.counterLog(atMs, '');
    return { pk, sk: { before: sk }, consistent };
  };

  return {
    read: (): Promise<CounterSnapshot | undefined> =>
      within('read', async () => {
        const { snapshot } = await readStored();
        const nowMs = clock.nowMs();
        if (snapshot === undefined || isOld(snapshot, nowMs)) return undefined;
        const log = logSince(snapshot.atMs, false);
        const { items, next } = await queryPage(table, log, new TimeLimit(TIMEOUT_MS));
        const counters = withCounters(snapshot.counters, items.flatMap(loggedIn));
        // More than one page of changes: the next fold takes the rest.
        const atMs = next === undefined ? nowMs - LATE_MS : snapshot.atMs;
        return { ...snapshot, atMs, counters };
      }),

    append: (counters: readonly Counter[], batch: string): Promise<void> =>
      within('append to', async () => {
        const nowMs = clock.nowMs();
        const item = itemAt(keys.counterLog(nowMs, batch), {
          [BYTES]: { B: packed(counters) },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs / 1000) + LOG_KEPT_SECONDS) },
        });
        await put(item);
      }),

    fold: () =>
      change('fold', async (snapshot) => {
        const nowMs = clock.nowMs();
        const atMs = nowMs - LATE_MS;
        if (snapshot === undefined || isOld(snapshot, nowMs)) return emptySnapshot(nowMs, atMs);
        let { counters } = snapshot;
        const log = logSince(snapshot.atMs, true);
        for await (const items of queryPages(table, log, new TimeLimit(FOLD_TIMEOUT_MS)))
          counters = withCounters(counters, items.flatMap(loggedIn));
        return { ...snapshot, atMs, counters };
      }),

    add: (met: readonly Counter[]) =>
      change('add to', async (snapshot) => {
        const copied = met.filter(({ key }) => isInSnapshot(key));
        return snapshot && { ...snapshot, counters: withCounters(snapshot.counters, copied) };
      }),

    /** A recount that began then is over: a snapshot that is as old is complete. */
    recounted: (startedAtMs: number) =>
      change('complete', async (snapshot) => {
        const isLate = snapshot === undefined || snapshot.complete || snapshot.sinceMs > startedAtMs;
        return isLate ? undefined : { ...snapshot, complete: true };
      }),
  };
}

const emptySnapshot = (sinceMs: number, atMs: number): CounterSnapshot => ({
  ...{ sinceMs, atMs, complete: false, counters: new Map() },
});

const isOld = ({ atMs }: CounterSnapshot, nowMs: number): boolean => nowMs - atMs > UNFOLDED_MS_MAX;

function withCounters(before: ReadonlyMap<string, Counter>, read: readonly Counter[]) {
  const all = new Map(before);
  for (const counter of read) {
    const name = counterName(counter.key);
    if ((all.get(name)?.rev ?? -1) <= counter.rev) all.set(name, counter);
  }
  for (const each of Map.groupBy(all.values(), ({ key }) => `${key.subject} ${key.limit}`).values()) {
    if (each.length <= PERIODS_KEPT) continue;
    const oldest = each.sort((a, b) => (a.key.period < b.key.period ? 1 : -1)).slice(PERIODS_KEPT);
    for (const { key } of oldest) all.delete(counterName(key));
  }
  return all;
}

const loggedIn = (item: Item): readonly Counter[] => unpacked(item[BYTES]?.B ?? new Uint8Array());

function packed(counters: Iterable<Counter>): Buffer {
  const groups = Map.groupBy(counters, ({ key }) => `${key.limit}\n${key.period}`);
  const all: PackedCounters = [...groups].map(([name, some]) => {
    const [limit = '', period = ''] = name.split('\n');
    return [limit, period, some.map(packedCounter)];
  });
  return gzipSync(JSON.stringify(all));
}

const packedCounter = ({ key, committed, fitted, settled, rev, unchecked }: Counter): PackedCounter =>
  Object.values(unchecked).every((amount) => amount === 0)
    ? [key.subject, committed, fitted, settled, rev]
    : [key.subject, committed, fitted, settled, rev, unchecked];

const unpacked = (bytes: Uint8Array): readonly Counter[] =>
  (JSON.parse(gunzipSync(bytes).toString()) as PackedCounters).flatMap(([limit, period, some]) =>
    some.map(([subject, committed, fitted, settled, rev, unchecked = NO_AMOUNTS.unchecked]) => ({
      ...{ key: { subject, limit, period }, committed, fitted, settled, rev, unchecked },
    })),
  );
