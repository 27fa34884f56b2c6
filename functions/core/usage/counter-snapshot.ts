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

export interface CounterSnapshots {
  read(): Promise<CounterSnapshot | undefined>;
  /** Appends counters to the log. Doing it twice changes nothing. @throws {LedgerError} `ledger_unavailable` */
  append(counters: readonly Counter[], batch: string): Promise<void>;
  /** Folds the log into the snapshot, or begins one. @throws {LedgerError} `ledger_unavailable` */
  fold(): Promise<void>;
  /** Adds what a recount met. @throws {LedgerError} `ledger_unavailable` */
  add(counters: readonly Counter[]): Promise<void>;
  /** A recount that began then is over: a snapshot that is as old is complete. @throws {LedgerError} `ledger_unavailable` */
  recounted(startedAtMs: number): Promise<void>;
}

/** Some 15 bytes each, packed. If there are more, pages read each counter. */
const COUNTERS_MAX = 60_000;
const PERIODS_KEPT = 2;
const TIMEOUT_MS = 10_000;
/** A thousand pages of log: a day of 500 jobs a second, after a failure. */
const FOLD_TIMEOUT_MS = 120_000;
/** Below the 400 KB of an item. */
const PART_BYTES_MAX = 300_000;
/** The stream's batches wait 150 s. An item of the log is written under the time before its write, by the writer's clock. */
const LATE_MS = 300_000;
/** After so long without a fold the snapshot begins again: DynamoDB deletes the log a day later. */
const UNFOLDED_MS_MAX = DAY_MS;
const LOG_KEPT_SECONDS = 2 * 86_400;

const REV = 'rv';
const HEAD = 'he';
const BYTES = 'by';
/** The head and the parts of one write have the same. */
const WRITE = 'wr';

/** The place of a head's parts. Writes take turns between two places, so a reader of a head finds its parts until the write after the next. */
interface PartsPlace {
  readonly turn: number;
  readonly parts: number;
  readonly write: string;
}

type Head = Omit<CounterSnapshot, 'counters'> & PartsPlace;

interface Kept {
  readonly rev: number;
  readonly place: PartsPlace;
  readonly text: string;
  readonly snapshot: CounterSnapshot | undefined;
}

/** Subject, committed, fitted, settled, rev, and the unchecked amounts where there are any. */
type PackedCounter = readonly [string, number, number, number, number, Counter['unchecked']?];
/** By limit, then by period: names repeat in thousands. */
type PackedCounters = readonly (readonly [string, string, readonly PackedCounter[]])[];

/** Counters of pipelines, windows, users and caps are not copied: they live for days, or there are too many. */
export const isInSnapshot = (key: CounterKey): boolean =>
  !isPipelineCounter(key) && !isWindow(key) && !goesUnclosed(key);

interface SnapshotOptions extends InstanceTable, BatchGetDeps {
  readonly countersMax?: number;
  readonly partBytes?: number;
}

export function dynamoCounterSnapshots({
  countersMax = COUNTERS_MAX,
  partBytes = PART_BYTES_MAX,
  ...deps
}: SnapshotOptions): CounterSnapshots {
  const { table, instance, clock } = deps;
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  const within = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    answered(`${what} the snapshot of counters`, failure, work);

  async function readKept(): Promise<Kept> {
    const head = await getItem(table, keys.counterSnapshot, new TimeLimit(TIMEOUT_MS));
    const rev = Number(head?.[REV]?.N ?? 0);
    const nothing: Kept = { rev, place: { turn: 1, parts: 0, write: '' }, text: '', snapshot: undefined };
    if (head?.[HEAD]?.S === undefined) return nothing;
    const { turn, parts, write, ...about } = JSON.parse(head[HEAD].S) as Head;
    const found = await batchGet(partKeys(turn, parts), TIMEOUT_MS, deps, { consistent: false });
    if (found.some((part) => part?.[WRITE]?.S !== write)) return nothing;
    const bytes = Buffer.concat(found.map((part) => part?.[BYTES]?.B ?? new Uint8Array()));
    const text = gunzipSync(bytes).toString();
    const counters = new Map(unpacked(text).map((counter) => [counterName(counter.key), counter]));
    return { rev, place: { turn, parts, write }, text, snapshot: { ...about, counters } };
  }

  async function write(before: Kept, { counters, ...about }: CounterSnapshot): Promise<void> {
    const text = packed(counters.values());
    // Parts that would be the same are not written again.
    const place = text === before.text ? before.place : await writeParts(text, 1 - before.place.turn);
    const head: Head = { ...about, ...place };
    const item = itemAt(keys.counterSnapshot, {
      [REV]: { N: String(before.rev + 1) },
      [HEAD]: { S: JSON.stringify(head) },
    });
    const { outcome } = await putItem(table, item, new TimeLimit(TIMEOUT_MS), atRev(REV, before.rev));
    if (outcome === 'refused')
      throw new LedgerError('ledger_unavailable', 'another run writes the snapshot of counters');
  }

  async function writeParts(text: string, turn: number): Promise<PartsPlace> {
    const bytes = gzipSync(text);
    const parts = Math.ceil(bytes.length / partBytes);
    const id = randomBytes(6).toString('base64url');
    for (const [part, key] of partKeys(turn, parts).entries()) {
      const item = itemAt(key, {
        [WRITE]: { S: id },
        [BYTES]: { B: bytes.subarray(part * partBytes, (part + 1) * partBytes) },
      });
      await putItem(table, item, new TimeLimit(TIMEOUT_MS));
    }
    return { turn, parts, write: id };
  }

  const partKeys = (turn: number, parts: number) =>
    Array.from({ length: parts }, (_, part) => keys.counterSnapshotPart(turn, part));

  /** A snapshot without room for all counters begins again, so the recount under way does not complete it. */
  const withRoom = (next: CounterSnapshot, counters: ReadonlyMap<string, Counter>): CounterSnapshot =>
    counters.size <= countersMax
      ? { ...next, counters }
      : { ...next, sinceMs: clock.nowMs(), complete: false, counters: new Map() };

  const logSince = (atMs: number, consistent: boolean): QueryAsk => {
    const { pk, sk } = keys.counterLog(atMs, '');
    return { pk, sk: { before: sk }, consistent };
  };

  return {
    read: () =>
      within('read', async () => {
        const { snapshot } = await readKept();
        if (snapshot === undefined) return undefined;
        const nowMs = clock.nowMs();
        if (nowMs - snapshot.atMs > UNFOLDED_MS_MAX) return undefined;
        const log = logSince(snapshot.atMs, false);
        const { items, next } = await queryPage(table, log, new TimeLimit(TIMEOUT_MS));
        const counters = withCounters(snapshot.counters, items.flatMap(loggedIn));
        // More than one page of changes: the next fold takes the rest.
        const atMs = next === undefined ? nowMs - LATE_MS : snapshot.atMs;
        return { ...snapshot, atMs, counters };
      }),

    append: (counters, batch) =>
      within('append to', async () => {
        const nowMs = clock.nowMs();
        const item = itemAt(keys.counterLog(nowMs, batch), {
          [BYTES]: { B: gzipSync(packed(counters)) },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs / 1000) + LOG_KEPT_SECONDS) },
        });
        await putItem(table, item, new TimeLimit(TIMEOUT_MS));
      }),

    fold: () =>
      within('fold', async () => {
        const nowMs = clock.nowMs();
        const kept = await readKept();
        const { snapshot } = kept;
        const atMs = nowMs - LATE_MS;
        if (snapshot === undefined || nowMs - snapshot.atMs > UNFOLDED_MS_MAX) {
          await write(kept, { sinceMs: nowMs, atMs, complete: false, counters: new Map() });
          return;
        }
        let { counters } = snapshot;
        const log = logSince(snapshot.atMs, true);
        for await (const items of queryPages(table, log, new TimeLimit(FOLD_TIMEOUT_MS)))
          counters = withCounters(counters, items.flatMap(loggedIn));
        await write(kept, withRoom({ ...snapshot, atMs }, counters));
      }),

    add: (met) =>
      within('add to', async () => {
        const kept = await readKept();
        const { snapshot } = kept;
        if (snapshot === undefined) return;
        const counters = withCounters(
          snapshot.counters,
          met.filter(({ key }) => isInSnapshot(key)),
        );
        await write(kept, withRoom(snapshot, counters));
      }),

    recounted: (startedAtMs) =>
      within('complete', async () => {
        const kept = await readKept();
        const { snapshot } = kept;
        if (snapshot !== undefined && !snapshot.complete && snapshot.sinceMs <= startedAtMs)
          await write(kept, { ...snapshot, complete: true });
      }),
  };
}

/** The later of two copies counts; of each limit's periods the last two are kept. */
function withCounters(
  before: ReadonlyMap<string, Counter>,
  read: readonly Counter[],
): ReadonlyMap<string, Counter> {
  const all = new Map(before);
  const periods = new Map<string, CounterKey[]>();
  for (const counter of read) {
    const name = counterName(counter.key);
    if ((all.get(name)?.rev ?? -1) <= counter.rev) all.set(name, counter);
  }
  for (const { key } of all.values()) {
    const limit = `${key.subject} ${key.limit}`;
    const known = periods.get(limit);
    if (known === undefined) periods.set(limit, [key]);
    else known.push(key);
  }
  for (const each of periods.values()) {
    if (each.length <= PERIODS_KEPT) continue;
    const oldest = each.sort((a, b) => (a.period < b.period ? 1 : -1)).slice(PERIODS_KEPT);
    for (const key of oldest) all.delete(counterName(key));
  }
  return all;
}

const loggedIn = (item: Item): readonly Counter[] => unpacked(gunzipSync(item[BYTES]?.B ?? '').toString());

function packed(counters: Iterable<Counter>): string {
  const groups = Map.groupBy(counters, ({ key }) => `${key.limit}\n${key.period}`);
  const all: PackedCounters = [...groups].map(([name, some]) => {
    const [limit = '', period = ''] = name.split('\n');
    return [limit, period, some.map(packedCounter)];
  });
  return JSON.stringify(all);
}

const packedCounter = ({ key, committed, fitted, settled, rev, unchecked }: Counter): PackedCounter =>
  Object.values(unchecked).every((amount) => amount === 0)
    ? [key.subject, committed, fitted, settled, rev]
    : [key.subject, committed, fitted, settled, rev, unchecked];

const unpacked = (text: string): readonly Counter[] =>
  (JSON.parse(text) as PackedCounters).flatMap(([limit, period, some]) =>
    some.map(([subject, committed, fitted, settled, rev, unchecked = NO_AMOUNTS.unchecked]) => ({
      ...{ key: { subject, limit, period }, committed, fitted, settled, rev, unchecked },
    })),
  );
