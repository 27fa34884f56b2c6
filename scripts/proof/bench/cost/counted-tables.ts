/** Tables in memory that say what reading them would cost: consistent reads, a unit for each started 4 KB. */
import { MemoryDirectoryTable } from '../../../../functions/core/directory/memory-directory-table.ts';
import { MemoryLimitTable } from '../../../../functions/core/limits/memory-limit-table.ts';
import { memorySessionStore } from '../../../../functions/core/signin/memory-session-store.ts';
import type { SessionStore } from '../../../../functions/core/signin/session-store.ts';
import { MemoryMarks } from '../../../../functions/ssm-limits/memory-marks.ts';
import { readUnitsOf } from './counting-rollup-store.ts';

export interface Counted {
  reads: number;
  writes: number;
}

type Sized = { readonly byteLength: number } | undefined;

const unitsOf = (chunks: readonly Sized[]): number =>
  chunks.reduce((units, chunk) => units + readUnitsOf(chunk?.byteLength ?? 0), 0);

export class CountedLimitTable extends MemoryLimitTable {
  readonly #counted: Counted;

  constructor(counted: Counted) {
    super();
    this.#counted = counted;
  }

  override getPointer(...asked: Parameters<MemoryLimitTable['getPointer']>) {
    this.#counted.reads += 1;
    return super.getPointer(...asked);
  }

  override async readChunks(...asked: Parameters<MemoryLimitTable['readChunks']>) {
    const chunks = await super.readChunks(...asked);
    this.#counted.reads += unitsOf(chunks);
    return chunks;
  }

  override async readLog(...asked: Parameters<MemoryLimitTable['readLog']>) {
    const items = await super.readLog(...asked);
    this.#counted.reads += unitsOf(items.map(({ bytes }) => bytes));
    return items;
  }

  override async readRequests(...asked: Parameters<MemoryLimitTable['readRequests']>) {
    const items = await super.readRequests(...asked);
    this.#counted.reads += Math.max(1, unitsOf(items.map(({ bytes }) => bytes)));
    return items;
  }

  override readOpenings(...asked: Parameters<MemoryLimitTable['readOpenings']>) {
    this.#counted.reads += asked[0].length;
    return super.readOpenings(...asked);
  }
}

export class CountedDirectoryTable extends MemoryDirectoryTable {
  readonly #counted: Counted;

  constructor(counted: Counted) {
    super();
    this.#counted = counted;
  }

  override getPointer(...asked: Parameters<MemoryDirectoryTable['getPointer']>) {
    this.#counted.reads += 1;
    return super.getPointer(...asked);
  }

  override async readChunks(...asked: Parameters<MemoryDirectoryTable['readChunks']>) {
    const chunks = await super.readChunks(...asked);
    this.#counted.reads += unitsOf(chunks);
    return chunks;
  }
}

/** What is remembered of parameters: some hundred bytes each, read at once. */
export class CountedMarks extends MemoryMarks {
  readonly #counted: Counted;

  constructor(counted: Counted) {
    super();
    this.#counted = counted;
  }

  override async readAll() {
    const marks = await super.readAll();
    this.#counted.reads += readUnitsOf(JSON.stringify([...marks]).length);
    return marks;
  }

  override readPass() {
    this.#counted.reads += 1;
    return super.readPass();
  }

  override writePass(...asked: Parameters<MemoryMarks['writePass']>) {
    this.#counted.writes += 1;
    return super.writePass(...asked);
  }
}

export function countedSessions(counted: Counted): SessionStore {
  const store = memorySessionStore();
  return {
    ...store,
    create: (...asked) => {
      counted.writes += 1;
      return store.create(...asked);
    },
    read: (...asked) => {
      counted.reads += 1;
      return store.read(...asked);
    },
    change: (...asked) => {
      counted.writes += 1;
      return store.change(...asked);
    },
  };
}
