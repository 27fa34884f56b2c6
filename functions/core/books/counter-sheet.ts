/**
 * Copies of all counters in few items, so that a page that ranks ten thousand budgets reads these and not each counter. The check of the
 * second sums keeps it, with the counters it reads anyhow; the recount begins it, since it meets every counter there is.
 */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type Counter, NO_AMOUNTS } from '../ledger/index.ts';
import {
  answered,
  atRev,
  type BatchGetDeps,
  batchGet,
  getItem,
  type InstanceTable,
  itemAt,
  ledgerKeys,
  putItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';

export interface CounterSheet {
  /** When it was first written, Unix ms: a recount that began later has met what was there before. */
  readonly sinceMs: number;
  /** Changes before this instant are in it, Unix ms. */
  readonly atMs: number;
  /** The last epoch that was looked at twice. */
  readonly epoch: number;
  /** A recount has met every counter since. What is not on a whole sheet is 0. */
  readonly whole: boolean;
  /** By name; of each limit's periods the last two. */
  readonly counters: ReadonlyMap<string, Counter>;
}

export interface CounterSheetStore {
  /** Undefined: there is none, or it is not whole in the table. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<CounterSheet | undefined>;
  /** In place of what was read last. `overtaken`: somebody else wrote meanwhile. @throws {LedgerError} `ledger_unavailable` */
  write(sheet: CounterSheet): Promise<'written' | 'overtaken'>;
}

/** Some 15 bytes each, packed. More of them are read one by one. */
const COUNTERS_MAX = 60_000;
const PERIODS_KEPT = 2;
const TIMEOUT_MS = 10_000;
/** Below the 400 KB of an item. */
const PART_BYTES_MAX = 300_000;

const REV = 'rv';
const HEAD = 'he';
const BYTES = 'by';
/** Parts of one writing, and the head that names them, have the same. */
const WRITING = 'wr';

/** Where the counters of a head are. Two writings take turns: whoever has read a head finds its parts until the next but one. */
interface PartsPlace {
  readonly turn: number;
  readonly parts: number;
  readonly writing: string;
}

type SheetHead = Omit<CounterSheet, 'counters'> & PartsPlace;

interface Kept extends PartsPlace {
  /** What its parts come to. */
  readonly text: string;
}

const NOTHING_KEPT: Kept = { turn: 1, parts: 0, writing: '', text: '' };

/** Subject, committed, fitted, settled, rev, and what did not ask where there is any. */
type PackedCounter = readonly [string, number, number, number, number, Counter['unchecked']?];
/** By limit, then by period: names repeat in thousands. */
type PackedCounters = readonly (readonly [string, string, readonly PackedCounter[]])[];

/** The sheet with counters that were read since; of two copies the later one counts. Undefined: there are too many. */
export function withCounters(
  before: ReadonlyMap<string, Counter>,
  read: readonly Counter[],
  countersMax = COUNTERS_MAX,
): ReadonlyMap<string, Counter> | undefined {
  const all = new Map(before);
  for (const counter of read) {
    const name = counterName(counter.key);
    if ((all.get(name)?.rev ?? -1) <= counter.rev) all.set(name, counter);
  }
  const ofLimit = Map.groupBy(all.values(), ({ key }) => `${key.subject} ${key.limit}`);
  for (const counters of ofLimit.values()) {
    const latest = counters.sort((a, b) => (a.key.period < b.key.period ? 1 : -1));
    for (const { key } of latest.slice(PERIODS_KEPT)) all.delete(counterName(key));
  }
  return all.size > countersMax ? undefined : all;
}

export function dynamoCounterSheet({
  partBytes = PART_BYTES_MAX,
  ...deps
}: InstanceTable & BatchGetDeps & { readonly partBytes?: number }): CounterSheetStore {
  const { table, instance } = deps;
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  let rev = 0;
  let kept = NOTHING_KEPT;
  const read = async (): Promise<CounterSheet | undefined> => {
    const head = await getItem(table, keys.counterSheet, new TimeLimit(TIMEOUT_MS));
    rev = Number(head?.[REV]?.N ?? 0);
    kept = NOTHING_KEPT;
    const text = head?.[HEAD]?.S;
    if (text === undefined) return undefined;
    const { turn, parts, writing, ...sheet } = JSON.parse(text) as SheetHead;
    const found = await batchGet(partKeys(turn, parts), TIMEOUT_MS, deps, { consistent: false });
    if (found.some((part) => part?.[WRITING]?.S !== writing)) return undefined;
    const bytes = Buffer.concat(found.map((part) => part?.[BYTES]?.B ?? new Uint8Array()));
    kept = { turn, parts, writing, text: gunzipSync(bytes).toString() };
    return { ...sheet, counters: unpacked(JSON.parse(kept.text) as PackedCounters) };
  };
  const write = async ({ counters, ...sheet }: CounterSheet): Promise<'written' | 'overtaken'> => {
    const text = JSON.stringify(packed(counters));
    // What stands still is not written again.
    const next = text === kept.text ? kept : await writeParts(text);
    const { text: _, ...place } = next;
    const head: SheetHead = { ...sheet, ...place };
    const item = itemAt(keys.counterSheet, {
      [REV]: { N: String(rev + 1) },
      [HEAD]: { S: JSON.stringify(head) },
    });
    const { outcome } = await putItem(table, item, new TimeLimit(TIMEOUT_MS), atRev(REV, rev));
    if (outcome === 'refused') return 'overtaken';
    rev += 1;
    kept = next;
    return 'written';
  };
  return {
    read: () => answered('read the sheet of counters', failure, read),
    write: (sheet) => answered('write the sheet of counters', failure, () => write(sheet)),
  };

  async function writeParts(text: string): Promise<Kept> {
    const bytes = gzipSync(text);
    const parts = Math.ceil(bytes.length / partBytes);
    const writing = randomBytes(6).toString('base64url');
    const turn = 1 - kept.turn;
    for (const [part, key] of partKeys(turn, parts).entries()) {
      const item = itemAt(key, {
        [WRITING]: { S: writing },
        [BYTES]: { B: bytes.subarray(part * partBytes, (part + 1) * partBytes) },
      });
      await putItem(table, item, new TimeLimit(TIMEOUT_MS));
    }
    return { turn, parts, writing, text };
  }

  function partKeys(turn: number, parts: number) {
    return Array.from({ length: parts }, (_, part) => keys.counterSheetPart(turn, part));
  }
}

function packed(counters: ReadonlyMap<string, Counter>): PackedCounters {
  const groups = Map.groupBy(counters.values(), ({ key }) => `${key.limit}\n${key.period}`);
  return [...groups].map(([name, some]) => {
    const [limit = '', period = ''] = name.split('\n');
    return [limit, period, some.map(packedCounter)];
  });
}

const packedCounter = ({ key, committed, fitted, settled, rev, unchecked }: Counter): PackedCounter =>
  Object.values(unchecked).every((amount) => amount === 0)
    ? [key.subject, committed, fitted, settled, rev]
    : [key.subject, committed, fitted, settled, rev, unchecked];

function unpacked(groups: PackedCounters): ReadonlyMap<string, Counter> {
  const counters = new Map<string, Counter>();
  for (const [limit, period, some] of groups) {
    for (const [subject, committed, fitted, settled, rev, unchecked = NO_AMOUNTS.unchecked] of some) {
      const key: CounterKey = { subject, limit, period };
      counters.set(counterName(key), { key, committed, fitted, settled, rev, unchecked });
    }
  }
  return counters;
}
