import { withoutAbsent } from '../../policies/without-absent.ts';
import {
  answered,
  dynamoYetFailed,
  type InstanceTable,
  type Item,
  ledgerKeys,
  queryPage,
  singleItem,
  TimeLimit,
  unavailable,
} from '../core/store/index.ts';
import { HEARTBEAT_AT } from '../names.ts';
import type { WatchdogMark, WatchTable } from './watch-table.ts';

const TIMEOUT_MS = 3_000;
const HEARD = 'he';
const DISARMED = 'di';
const PAGED = 'pg';
const YET_FAILED = 'yf';
const YET_FAILED_UNTOLD = 'yu';

interface WatchTableOptions extends InstanceTable {
  /** @default false: such jobs are not read, and no right is needed */
  readonly disarmsAfterFailedJob?: boolean;
}

/** Heartbeats and the watchdog's state, next to the ledger. */
export function dynamoWatchTable({
  table,
  instance,
  disarmsAfterFailedJob = false,
}: WatchTableOptions): WatchTable {
  const keys = ledgerKeys(instance);
  const mark = singleItem({
    table,
    consistent: true,
    key: keys.watchdogMark,
    name: "the watchdog's mark",
  });
  return {
    async newestBeatMs() {
      // One page holds the beats of some ten thousand relays; those of the last hour are kept.
      const ask = { pk: keys.heartbeatPk, attributes: [HEARTBEAT_AT], consistent: true };
      const { items } = await answered('read the heartbeats', unavailable(table), () =>
        queryPage(table, ask, new TimeLimit(TIMEOUT_MS)),
      );
      const beats = items.flatMap((item) => numberIn(item, HEARTBEAT_AT) ?? []);
      return beats.length === 0 ? undefined : Math.max(...beats);
    },
    latestYetFailed: async () =>
      disarmsAfterFailedJob ? dynamoYetFailed({ table, instance }).read() : undefined,
    async readMark() {
      const found = await mark.read();
      return found && markOf(found);
    },
    writeMark: (written) => mark.write(itemOf(written)),
  };
}

const itemOf = ({
  heardAtMs,
  disarmedForMs,
  pagedAtMs,
  yetFailedMs,
  yetFailedUntold,
}: WatchdogMark): Item => ({
  [HEARD]: { N: String(heardAtMs) },
  ...(disarmedForMs !== undefined && { [DISARMED]: { N: String(disarmedForMs) } }),
  ...(pagedAtMs !== undefined && { [PAGED]: { N: String(pagedAtMs) } }),
  ...(yetFailedMs !== undefined && { [YET_FAILED]: { N: String(yetFailedMs) } }),
  ...(yetFailedUntold === true && { [YET_FAILED_UNTOLD]: { BOOL: true } }),
});

function markOf(item: Item): WatchdogMark | undefined {
  const heardAtMs = numberIn(item, HEARD);
  const disarmedForMs = numberIn(item, DISARMED);
  const pagedAtMs = numberIn(item, PAGED);
  const yetFailedMs = numberIn(item, YET_FAILED);
  if (heardAtMs === undefined) return undefined;
  return {
    heardAtMs,
    ...withoutAbsent({ disarmedForMs, pagedAtMs, yetFailedMs }),
    ...(item[YET_FAILED_UNTOLD]?.BOOL === true && { yetFailedUntold: true }),
  };
}

function numberIn(item: Item, attribute: string): number | undefined {
  const value = Number(item[attribute]?.N ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
