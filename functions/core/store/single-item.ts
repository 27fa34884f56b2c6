/** One item of the table that is read and replaced whole. */
import { getItem } from './get.ts';
import type { Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import { type ItemTable, TimeLimit } from './operation.ts';
import { itemAt, putItem } from './put.ts';
import { answered, unavailable } from './table-failure.ts';

interface SingleItemOptions {
  readonly table: ItemTable;
  readonly key: Key;
  /** What it is, for whoever reads that a call failed: `the scope`. */
  readonly name: string;
  /** Whether a read sees what was just written, for a whole read unit instead of half a one. */
  readonly consistent: boolean;
}

interface SingleItem {
  /** Undefined: it is not there. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<Item | undefined>;
  /** @throws {LedgerError} `ledger_unavailable` */
  write(attributes: Item): Promise<void>;
}

const TIMEOUT_MS = 3_000;

export function singleItem({ table, key, name, consistent }: SingleItemOptions): SingleItem {
  const failure = unavailable(table);
  return {
    read: () =>
      answered(`read ${name}`, failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS), { consistent })),
    write: async (attributes) => {
      await answered(`write ${name}`, failure, () =>
        putItem(table, itemAt(key, attributes), new TimeLimit(TIMEOUT_MS)),
      );
    },
  };
}
