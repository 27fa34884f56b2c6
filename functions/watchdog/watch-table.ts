import { withoutAbsent } from '../../policies/without-absent.ts';
import { queryPage, singleItem } from '../core/store/calls.ts';
import { dynamoYetFailed, type YetFailedMark } from '../core/store/health-items.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { type InstanceTable, type Item, TimeLimit } from '../core/store/operation.ts';
import { answered, unavailable } from '../core/store/table-failure.ts';
import { HEARTBEAT_AT } from '../names.ts';

export type WatchTable = ReturnType<typeof dynamoWatchTable>;

export interface WatchdogMark {
  /** A relay was heard then, Unix ms, or up to ten minutes later. */
  readonly heardAtMs: number;
  /** The controller was disarmed in the silence after this time: the same as `heardAtMs` while that silence lasts. */
  readonly disarmedForMs?: number;
  readonly pagedAtMs?: number;
  /** The job that failed although admitted, by when it was found, Unix ms: it was acted on, or needed no act. */
  readonly yetFailedMs?: number;
  readonly yetFailedUnsent?: true;
}

const TIMEOUT_MS = 3_000;

export function dynamoWatchTable({
  table,
  instance,
  disarmsAfterFailedJob = false,
}: InstanceTable & {
  /** @default false: such jobs are not read, and no right is needed */
  readonly disarmsAfterFailedJob?: boolean;
}) {
  const keys = ledgerKeys(instance);
  const mark = singleItem<WatchdogMark>({
    ...{ table, consistent: true, key: keys.watchdogMark, name: "the watchdog's mark" },
    encode: ({ heardAtMs, disarmedForMs, pagedAtMs, yetFailedMs, yetFailedUnsent }) => ({
      he: { N: String(heardAtMs) },
      ...(disarmedForMs !== undefined && { di: { N: String(disarmedForMs) } }),
      ...(pagedAtMs !== undefined && { pg: { N: String(pagedAtMs) } }),
      ...(yetFailedMs !== undefined && { yf: { N: String(yetFailedMs) } }),
      ...(yetFailedUnsent && { yu: { BOOL: true } }),
    }),
    decode: (item) => {
      const heardAtMs = numberIn(item, 'he');
      if (heardAtMs === undefined) return undefined;
      const [disarmedForMs, pagedAtMs] = [numberIn(item, 'di'), numberIn(item, 'pg')];
      const yetFailedMs = numberIn(item, 'yf');
      const yetFailedUnsent = item.yu?.BOOL || undefined;
      return { heardAtMs, ...withoutAbsent({ disarmedForMs, pagedAtMs, yetFailedMs, yetFailedUnsent }) };
    },
  });
  return {
    async newestBeatMs(): Promise<number | undefined> {
      // One page holds the beats of some ten thousand relays; those of the last hour are kept.
      const ask = { pk: keys.heartbeatPk, attributes: [HEARTBEAT_AT], consistent: true };
      const { items } = await answered('read the heartbeats', unavailable(table), () =>
        queryPage(table, ask, new TimeLimit(TIMEOUT_MS)),
      );
      const beats = items.flatMap((item) => numberIn(item, HEARTBEAT_AT) ?? []);
      return beats.length === 0 ? undefined : Math.max(...beats);
    },
    latestYetFailed: async (): Promise<YetFailedMark | undefined> =>
      disarmsAfterFailedJob ? dynamoYetFailed({ table, instance }).read() : undefined,
    readMark: (): Promise<WatchdogMark | undefined> => mark.read(),
    writeMark: (written: WatchdogMark): Promise<void> => mark.write(written),
  };
}

function numberIn(item: Item, attribute: string): number | undefined {
  const value = Number(item[attribute]?.N ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
