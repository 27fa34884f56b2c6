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

/** Job ends that webhooks reported, and the checkpoint of their comparison with GitLab. */
export interface ReportedEnds {
  /** Bodies of the deliveries of one half hour, in no order. @throws {LedgerError} `ledger_unavailable` */
  read(slot: number): Promise<readonly string[]>;
  /** The half hour that is under way: everything before it is done. @throws {LedgerError} `ledger_unavailable` */
  readCheckpoint(): Promise<number | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  writeCheckpoint(slot: number): Promise<void>;
}

/** One shard of a half hour: some thousand deliveries, a megabyte a page. */
const SHARD_TIMEOUT_MS = 10_000;
const SLOT = 'sl';

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
      const slot = Number((await checkpoint.read())?.[SLOT]?.N);
      return Number.isSafeInteger(slot) ? slot : undefined;
    },
    writeCheckpoint: (slot) => checkpoint.write({ [SLOT]: { N: String(slot) } }),
  };
}
