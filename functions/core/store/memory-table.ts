/**
 * The table in memory, for tests, simulations and local runs: the same operations, conditions and answers as DynamoDB's. It
 * answers at once, so nothing conflicts and nothing is throttled. What is stored is never shared with a caller's bytes.
 */

import type { Item } from './item-bytes.ts';
import { MemoryItems } from './memory-items.ts';
import { type Answers, type ItemTable, keyOf, type Operations } from './operation.ts';
import { TTL_ATTRIBUTE } from './table.ts';
import { type ItemChange, TableEvaluation } from './table-evaluation.ts';

interface MemoryTableOptions {
  /** Ages the tokens of transactions. @default they are never too old */
  readonly nowMs?: () => number;
  /** Told of each write that is applied, in their order and in the same instant: the table's stream, or its journal. */
  readonly onWritten?: (changes: readonly ItemChange[]) => void;
  /** What a page of a scan looks at at most. @default 1000 */
  readonly scanPageItems?: number;
}

export class MemoryTable implements ItemTable {
  readonly tableName = 'memory';
  readonly #items: MemoryItems;
  readonly #evaluation: TableEvaluation;

  constructor(options: MemoryTableOptions = {}) {
    this.#items = new MemoryItems(options.nowMs ?? (() => 0));
    this.#evaluation = new TableEvaluation(this.#items, options);
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    return this.#evaluation.answer(name, operation);
  }

  /** Everything that is stored, without waiting. */
  items(): readonly Item[] {
    return this.#items.page(0, Number.POSITIVE_INFINITY).items;
  }

  /** Deletes what DynamoDB's TTL would have deleted by then. */
  collectGarbage(nowMs: number): void {
    for (const item of this.items()) {
      const expiresAtSeconds = item[TTL_ATTRIBUTE]?.N;
      if (expiresAtSeconds !== undefined && Number(expiresAtSeconds) * 1000 <= nowMs)
        this.#evaluation.answer('DeleteItem', { key: keyOf(item) });
    }
  }
}
