import type { CounterKey } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';
import type { RebuildReport } from './ledger.ts';
import { readNumber, readText } from './record-item.ts';
import { roundMs, type UsageLook } from './recount-round.ts';

/**
 * A round compares the usage of jobs as young as this, so each job is met at least once after its last change, even by rounds that take
 * some hours more than they should.
 *
 * @param records - that the round before met
 */
export const mendedMs = (records = Number.POSITIVE_INFINITY): number => roundMs(records) + DAY_MS;

/** Result of the last round of the recount, for pages and the health check. */
export interface RecountOutcome {
  /** Unix ms, when it began. */
  readonly recountedAtMs: number;
  /** Counters that do not show what their records make; at most {@link DRIFTING_KEPT_MAX}. */
  readonly drifting: readonly DriftingCounter[];
  /** Number of drifting counters that are not listed. */
  readonly unlisted: number;
  /** Records counted. Absent in results of older versions. */
  readonly records?: number;
  /** Absent: an older version recounted, or one that compares no usage. */
  readonly usage?: UsageLook;
}

interface DriftingCounter {
  readonly key: CounterKey;
  /** Settled + held, whole units of the limit: as the counter had it, and as its records make it. */
  readonly committed: number;
  readonly recounted: number;
}

export interface RecountOutcomes {
  /** Returns undefined before the first recount. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<RecountOutcome | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(outcome: RecountOutcome): Promise<void>;
}

/** About 150 bytes each, so an item stays far below its 400 KB. More of them share one cause. */
const DRIFTING_KEPT_MAX = 500;

/** @param recountedAtMs - Unix ms, when the recount began */
export function recountOutcome(
  { records, drift, unproven }: Pick<RebuildReport, 'records' | 'drift' | 'unproven'>,
  recountedAtMs: number,
  usage?: UsageLook,
): RecountOutcome {
  const all = [...drift, ...unproven];
  return {
    ...{ recountedAtMs, records },
    drifting: all.slice(0, DRIFTING_KEPT_MAX).map(({ key, counter, recount }) => ({
      key,
      committed: counter.committed,
      recounted: recount.committed,
    })),
    unlisted: Math.max(0, all.length - DRIFTING_KEPT_MAX),
    ...(usage !== undefined && { usage }),
  };
}

/** Returns true if the next round should have ended a day ago. When it ends, this one began two rounds before. */
export const isRecountLate = (
  { recountedAtMs, records = Number.POSITIVE_INFINITY }: RecountOutcome,
  nowMs: number,
): boolean => nowMs - recountedAtMs > 2 * roundMs(records) + DAY_MS;

const RECOUNTED_AT = 'at';
const UNLISTED = 'ul';
const DRIFTING = 'dc';
const RECORDS = 're';
const USAGE = 'us';
const SUBJECT = 's';
const LIMIT = 'l';
const PERIOD = 'p';
const COMMITTED = 'c';
const RECOUNTED = 'r';

/** One item, which each recount replaces. */
export function dynamoRecountOutcomes({ table, instance }: InstanceTable): RecountOutcomes {
  const key = ledgerKeys(instance).recountOutcome;
  const item = singleItem({ table, key, name: 'what the recount found', consistent: false });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (outcome) => item.write(encode(outcome)),
  };
}

const encode = (outcome: RecountOutcome): Item => ({
  [RECOUNTED_AT]: { N: String(outcome.recountedAtMs) },
  [UNLISTED]: { N: String(outcome.unlisted) },
  ...(outcome.records !== undefined && { [RECORDS]: { N: String(outcome.records) } }),
  ...(outcome.usage !== undefined && { [USAGE]: { S: JSON.stringify(outcome.usage) } }),
  [DRIFTING]: {
    L: outcome.drifting.map(({ key, committed, recounted }) => ({
      M: {
        [SUBJECT]: { S: key.subject },
        [LIMIT]: { S: key.limit },
        [PERIOD]: { S: key.period },
        [COMMITTED]: { N: String(committed) },
        [RECOUNTED]: { N: String(recounted) },
      },
    })),
  },
});

const decode = (item: Item): RecountOutcome => ({
  recountedAtMs: readNumber(item, RECOUNTED_AT),
  unlisted: readNumber(item, UNLISTED),
  ...(item[RECORDS]?.N !== undefined && { records: Number(item[RECORDS].N) }),
  ...(item[USAGE]?.S !== undefined && { usage: JSON.parse(item[USAGE].S) as UsageLook }),
  drifting: (item[DRIFTING]?.L ?? []).map(
    ({ M = {} }): DriftingCounter => ({
      key: { subject: readText(M, SUBJECT), limit: readText(M, LIMIT), period: readText(M, PERIOD) },
      committed: readNumber(M, COMMITTED),
      recounted: readNumber(M, RECOUNTED),
    }),
  ),
});
