import type { CounterKey } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';
import type { RebuildReport } from './ledger.ts';
import type { UsageLook } from './recount-pass.ts';

/** From the beginning of one recount to the next one's, while every check of a quarter of an hour finds the books right. */
export const RECOUNT_EVERY_MS = 7 * DAY_MS;
/**
 * Usage of jobs as young as this is looked at again by a recount. The stream keeps a day, its reader gives up a little earlier, and
 * a recount may take a day: no job falls between two of them.
 */
export const MENDED_MS = RECOUNT_EVERY_MS + 2 * DAY_MS;

/** What the last recount of all records found, kept beside the books for whoever tells a figure. */
export interface RecountOutcome {
  /** Unix ms, when it began. */
  readonly recountedAtMs: number;
  /** Counters that do not show what their records make; at most {@link DRIFTING_KEPT_MAX}. */
  readonly drifting: readonly DriftingCounter[];
  /** How many more drift than are listed. */
  readonly unlisted: number;
  /** Absent: an older program recounted, or nobody looked at usage. */
  readonly usage?: UsageLook;
}

interface DriftingCounter {
  readonly key: CounterKey;
  /** Settled + held, whole units of the limit: as the counter had it, and as its records make it. */
  readonly committed: number;
  readonly recounted: number;
}

export interface RecountOutcomes {
  /** Absent: nobody has recounted yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<RecountOutcome | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(outcome: RecountOutcome): Promise<void>;
}

/** Some 150 bytes each: an item stays far below its 400 KB. More of them are one fault, not as many. */
const DRIFTING_KEPT_MAX = 500;

/** @param recountedAtMs - Unix ms, when the recount began */
export function recountOutcome(
  { drift, unproven }: Pick<RebuildReport, 'drift' | 'unproven'>,
  recountedAtMs: number,
  usage?: UsageLook,
): RecountOutcome {
  const all = [...drift, ...unproven];
  return {
    recountedAtMs,
    drifting: all.slice(0, DRIFTING_KEPT_MAX).map(({ key, counter, recount }) => ({
      key,
      committed: counter.committed,
      recounted: recount.committed,
    })),
    unlisted: Math.max(0, all.length - DRIFTING_KEPT_MAX),
    ...(usage !== undefined && { usage }),
  };
}

const RECOUNTED_AT = 'at';
const UNLISTED = 'ul';
const DRIFTING = 'dc';
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
  recountedAtMs: Number(item[RECOUNTED_AT]?.N ?? 0),
  unlisted: Number(item[UNLISTED]?.N ?? 0),
  ...(item[USAGE]?.S !== undefined && { usage: JSON.parse(item[USAGE].S) as UsageLook }),
  drifting: (item[DRIFTING]?.L ?? []).map(
    ({ M = {} }): DriftingCounter => ({
      key: { subject: M[SUBJECT]?.S ?? '', limit: M[LIMIT]?.S ?? '', period: M[PERIOD]?.S ?? '' },
      committed: Number(M[COMMITTED]?.N ?? 0),
      recounted: Number(M[RECOUNTED]?.N ?? 0),
    }),
  ),
});
