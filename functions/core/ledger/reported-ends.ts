import {
  answered,
  INBOX_SHARDS,
  type InstanceTable,
  type Item,
  ledgerKeys,
  queryAll,
  singleItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';

/** Up to here the sweep has compared ends that webhooks reported with GitLab's REST API. */
interface ConfirmCheckpoint {
  /** The half hour of deliveries that is under way; everything before it is done. */
  readonly slot: number;
  /** Jobs of it up to this id are done. */
  readonly doneTo: number;
}

/** Job ends that webhooks reported, and the checkpoint of their comparison with GitLab. */
export interface ReportedEnds {
  /** Bodies of the deliveries of one half hour, in no order. @throws {LedgerError} `ledger_unavailable` */
  read(slot: number): Promise<readonly string[]>;
  /** @throws {LedgerError} `ledger_unavailable` */
  readCheckpoint(): Promise<ConfirmCheckpoint | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  writeCheckpoint(checkpoint: ConfirmCheckpoint): Promise<void>;
}

/** One shard of a half hour: some thousand deliveries, a megabyte a page. */
const SHARD_TIMEOUT_MS = 10_000;
const SLOT = 'sl';
const DONE_TO = 'to';

export function dynamoReportedEnds({ table, instance }: InstanceTable): ReportedEnds {
  const keys = ledgerKeys(instance);
  const checkpoint = singleItem({
    table,
    key: keys.confirmCheckpoint,
    name: 'the checkpoint of confirmed ends',
    consistent: true,
  });
  const readShard = (slot: number, shard: number): Promise<readonly Item[]> =>
    answered('read reported ends', unavailable(table), () =>
      queryAll(
        table,
        { pk: keys.inboxPk(slot, shard), attributes: ['b'], consistent: false },
        new TimeLimit(SHARD_TIMEOUT_MS),
      ),
    );
  return {
    async read(slot) {
      const shards = Array.from({ length: INBOX_SHARDS }, (_, shard) => readShard(slot, shard));
      return (await Promise.all(shards)).flat().flatMap(({ b }) => b?.S ?? []);
    },
    async readCheckpoint() {
      const found = await checkpoint.read();
      const [slot, doneTo] = [Number(found?.[SLOT]?.N), Number(found?.[DONE_TO]?.N)];
      return Number.isSafeInteger(slot) && Number.isSafeInteger(doneTo) ? { slot, doneTo } : undefined;
    },
    writeCheckpoint: ({ slot, doneTo }) =>
      checkpoint.write({ [SLOT]: { N: String(slot) }, [DONE_TO]: { N: String(doneTo) } }),
  };
}
