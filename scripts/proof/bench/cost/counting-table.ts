import type { Key } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import {
  type Answers,
  type Item,
  type ItemTable,
  itemBytes,
  keyOf,
  type Operations,
} from '../../../../functions/core/store/operation.ts';
import { DUE_AT, DUE_PK } from '../../../../functions/names.ts';

export interface TableUnits {
  reads: number;
  writes: number;
  /** Writes to the due index, included in no other figure. */
  indexWrites: number;
}

/**
 * A table in memory that adds up the units DynamoDB would charge, so the counts are the same on every machine.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export class CountingTable implements ItemTable {
  readonly tableName = 'counted';
  readonly #table: MemoryTable;
  readonly #kindOf: (key: Key) => string;
  readonly #units = new Map<string, TableUnits>();
  /** Prepare and commit double the units of transactional writes. */
  #writeFactor = 1;

  /**
   * @param options.kindOf - groups the units by item. @default one group
   * @param options.onWritten - called with each written item.
   */
  constructor(options: { kindOf?: (key: Key) => string; onWritten?: (item: Item) => void } = {}) {
    this.#kindOf = options.kindOf ?? (() => 'all');
    this.#table = new MemoryTable({
      onWritten: (changes) => {
        for (const { before, after } of changes) {
          const item = after ?? before;
          if (item === undefined) continue;
          const units = this.units(this.#kindOf(keyOf(item)));
          units.writes += this.#writeFactor * Math.max(writeUnitsOf(before), writeUnitsOf(after));
          units.indexWrites += indexWrites(before, after);
          if (after !== undefined) options.onWritten?.(after);
        }
      },
    });
  }

  /** The units of one kind of item so far. */
  units(kind = 'all'): TableUnits {
    const units = this.#units.get(kind) ?? { reads: 0, writes: 0, indexWrites: 0 };
    this.#units.set(kind, units);
    return units;
  }

  item({ pk, sk }: Key): Item | undefined {
    return this.#table.items().find((item) => keyOf(item).pk === pk && keyOf(item).sk === sk);
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    this.#writeFactor = name === 'TransactWriteItems' ? 2 : 1;
    const answer = await this.#table.send(name, operation);
    this.#countReads(name, operation, answer);
    const isRefused = typeof answer === 'object' && 'outcome' in answer && answer.outcome === 'refused';
    if (isRefused) this.#countRefused(operation);
    return answer;
  }

  /** A refused write costs as much as one that is applied; these items are small. */
  #countRefused(operation: object): void {
    const { writes = [operation], kind = '' } = operation as { writes?: readonly object[]; kind?: string };
    const factor = kind === '' ? 2 : 1;
    for (const write of writes) {
      const { key, item = {} } = write as { key?: Key; item?: Item };
      this.units(this.#kindOf(key ?? keyOf(item))).writes += factor;
    }
  }

  #countReads(name: keyof Operations, operation: object, answer: unknown): void {
    const share = 'consistent' in operation && operation.consistent === true ? 1 : 0.5;
    const add = (kind: string, bytes: number): void => {
      this.units(kind).reads += share * Math.max(1, Math.ceil(bytes / 4096));
    };
    if (name === 'GetItem' || name === 'BatchGetItem') {
      const { key, keys = key === undefined ? [] : [key] } = operation as { key?: Key; keys?: Key[] };
      const found = name === 'GetItem' ? [answer as Item | undefined] : (answer as { items: Item[] }).items;
      const bytes = new Map(found.flatMap((item) => (item ? [[keyText(keyOf(item)), bytesOf(item)]] : [])));
      for (const each of keys) add(this.#kindOf(each), bytes.get(keyText(each)) ?? 0);
    } else if (name === 'Query' || name === 'Scan') {
      const { items } = answer as Answers['Query'];
      const { pk = '' } = operation as { pk?: string };
      add(
        this.#kindOf({ pk, sk: '' }),
        items.reduce((sum, item) => sum + bytesOf(item), 0),
      );
    }
  }
}

/** Limits and directory store binary values, which `itemBytes` does not know. */
function bytesOf(item: Item): number {
  const entries = Object.entries(item);
  const binary = entries.filter(([, { B }]) => B !== undefined);
  const rest = Object.fromEntries(entries.filter(([, { B }]) => B === undefined));
  return binary.reduce((sum, [name, { B }]) => sum + name.length + (B?.length ?? 0), itemBytes(rest));
}

const keyText = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

export const writeUnitsOf = (item: Item | undefined): number =>
  item === undefined ? 0 : Math.max(1, Math.ceil(bytesOf(item) / 1024));

/** The index holds keys only: one unit to remove an entry, one to add the new one. */
function indexWrites(before: Item | undefined, after: Item | undefined): number {
  const entry = (item: Item | undefined): string | undefined =>
    item?.[DUE_PK] === undefined ? undefined : `${item[DUE_PK].S} ${item[DUE_AT]?.N}`;
  const [from, to] = [entry(before), entry(after)];
  if (from === to) return 0;
  return (from === undefined ? 0 : 1) + (to === undefined ? 0 : 1);
}
