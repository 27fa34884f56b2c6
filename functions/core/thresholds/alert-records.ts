/**
 * Records of sent and failed alerts, next to each counter. The rollup writes those of thresholds, the notices those of forecasts. Both
 * read them to repeat no alert, and pages show them.
 */
import type { CounterKey } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { longestDays } from '../../../policies/limits/period.ts';
import { type BatchGetDeps, batchGet, itemAt, readItem, timedTable, writeItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { atRev, type InstanceTable, TTL_ATTRIBUTE } from '../store/operation.ts';
import { LedgerError } from '../store/table-failure.ts';

/** `topic`: mail and all other subscriptions of the deployment's topic. */
export const ALERT_CHANNELS = ['topic', 'slack', 'teams'] as const;
export const ALERT_MEASURES = ['spent', 'committed', 'forecast'] as const;

export interface ChannelOutcome {
  readonly channel: (typeof ALERT_CHANNELS)[number];
  readonly outcome: 'taken' | 'failed';
  /** When the channel took the message, or first failed. Unix ms. */
  readonly atMs: number;
}

export interface AlertedLevel {
  readonly measure: (typeof ALERT_MEASURES)[number];
  /** `90 %`, `soft`, `overdraft`, `forecast 100 %`. */
  readonly level: string;
  readonly levelAmount: number;
  readonly limitAmount: number;
  /** The recipient's name in the limits at that time. */
  readonly owner: string;
}

export interface AlertRecord extends AlertedLevel {
  readonly channels: readonly ChannelOutcome[];
}

interface CounterAlerts {
  readonly of: 'thresholds' | 'forecasts';
  readonly key: CounterKey;
}

export type AlertRecordStore = ReturnType<typeof dynamoAlertRecords>;

/** GitLab's longest job takes a month: it may settle in a period that is long over. */
const LATE_DAYS = 35;
/** A limit without a new period needs some end for its items. */
const ONCE_DAYS = 3_660;

/** End of the memory of a period's alerts. Unix ms. */
function keptUntilMs(period: string, nowMs: number): number {
  const days = longestDays(period);
  return nowMs + (Number.isFinite(days) ? days + LATE_DAYS : ONCE_DAYS) * DAY_MS;
}

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const RECORDS = 'mk';
/** Some 10 KB. A limit that changes often in one period loses the oldest. */
const RECORDS_MAX = 60;
/** One stream reader and one scheduled run write here; a rival write is a repeat of theirs. */
const TRIES_MAX = 3;

/** Every method throws {@link LedgerError} `ledger_unavailable`. */
export function dynamoAlertRecords(deps: InstanceTable & BatchGetDeps) {
  const { table, instance, clock } = deps;
  const keys = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  return {
    /** Reads one list per counter, oldest record first. */
    async read(counters: readonly CounterAlerts[]): Promise<readonly (readonly AlertRecord[])[]> {
      const wanted = counters.map(({ of, key }) => keys.alertRecords(of, key));
      const items = await timed.within('read alert records', () => batchGet(wanted, TIMEOUT_MS, deps));
      return items.map((item) => parseRecords(item?.[RECORDS]?.S));
    },
    /** A taken message stays taken, and a repeated failure keeps its first time: then nothing is written. */
    async add({ of, key }: CounterAlerts, records: readonly AlertRecord[]): Promise<void> {
      const at = keys.alertRecords(of, key);
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const item = await readItem(timed, 'alert records', at);
        const before = item?.[RECORDS]?.S;
        const after = JSON.stringify(mergeRecords(parseRecords(before), records));
        if (after === before) return;
        const rev = Number(item?.[REV]?.N ?? 0);
        const next = itemAt(at, {
          [REV]: { N: String(rev + 1) },
          [RECORDS]: { S: after },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(keptUntilMs(key.period, clock.nowMs()) / 1_000)) },
        });
        if (await writeItem(timed, 'alert records', next, atRev(REV, rev))) return;
      }
      const cause = `other writers keep changing the alert records of ${at.pk}`;
      throw new LedgerError('ledger_unavailable', cause);
    },
  };
}

/** True if the topic took an alert of this level, or of a higher one of the same amount of the limit. */
export const isSent = (
  reached: Pick<AlertedLevel, 'measure' | 'limitAmount'> & { readonly level: { readonly amount: number } },
  records: readonly AlertRecord[],
): boolean =>
  records.some(
    (each) =>
      each.measure === reached.measure &&
      each.limitAmount === reached.limitAmount &&
      each.levelAmount >= reached.level.amount &&
      each.channels.some(({ channel, outcome }) => channel === 'topic' && outcome === 'taken'),
  );

// Only `add` writes this text.
const parseRecords = (text: string | undefined): readonly AlertRecord[] => JSON.parse(text ?? '[]');

function mergeRecords(before: readonly AlertRecord[], more: readonly AlertRecord[]): readonly AlertRecord[] {
  const records = new Map(before.map((record) => [levelKey(record), record]));
  let hasNews = false;
  for (const record of more) {
    const known = records.get(levelKey(record));
    const channels = new Map(known?.channels.map((each) => [each.channel, each]));
    for (const each of record.channels) {
      const { outcome } = channels.get(each.channel) ?? {};
      if (outcome === 'taken' || outcome === each.outcome) continue;
      channels.set(each.channel, each);
      hasNews = true;
    }
    // Deleting first moves it to the end: the newest record comes last.
    records.delete(levelKey(record));
    records.set(levelKey(record), { ...record, channels: [...channels.values()] });
  }
  return hasNews ? [...records.values()].slice(-RECORDS_MAX) : before;
}

const levelKey = ({ measure, level, limitAmount }: AlertedLevel): string =>
  JSON.stringify([measure, level, limitAmount]);
