import { DynamoDirectoryTable } from '../../../../functions/core/directory/index.ts';
import { systemClock } from '../../../../functions/core/environment/index.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/index.ts';
import { dynamoSessionStore, type SessionStore } from '../../../../functions/core/signin/index.ts';
import { MemoryTable } from '../../../../functions/core/store/index.ts';
import {
  type AlertRecordStore,
  dynamoAlertRecords,
} from '../../../../functions/core/thresholds/alert-records.ts';
import {
  dynamoImportedVersions,
  type ImportedVersions,
} from '../../../../functions/ssm-limits/imported-versions.ts';
import { readUnitsOf } from './counting-rollup-store.ts';

export interface TableCounts {
  reads: number;
  writes: number;
}

type Sized = { readonly byteLength: number } | undefined;

/** A table of its own, since each is counted by itself. */
const place = () => ({ table: new MemoryTable(), instance: 'gitlab.example.com' });

const unitsOf = (chunks: readonly Sized[]): number =>
  chunks.reduce((units, chunk) => units + readUnitsOf(chunk?.byteLength ?? 0), 0);

export class CountedLimitTable extends DynamoLimitTable {
  readonly #counted: TableCounts;

  constructor(counted: TableCounts) {
    super({ ...place(), clock: systemClock, random: () => 0 });
    this.#counted = counted;
  }

  override getPointer(...asked: Parameters<DynamoLimitTable['getPointer']>) {
    this.#counted.reads += 1;
    return super.getPointer(...asked);
  }

  override async readChunks(...asked: Parameters<DynamoLimitTable['readChunks']>) {
    const chunks = await super.readChunks(...asked);
    this.#counted.reads += unitsOf(chunks);
    return chunks;
  }

  override async readLog(...asked: Parameters<DynamoLimitTable['readLog']>) {
    const items = await super.readLog(...asked);
    this.#counted.reads += unitsOf(items.map(({ bytes }) => bytes));
    return items;
  }

  override async readRequests(...asked: Parameters<DynamoLimitTable['readRequests']>) {
    const items = await super.readRequests(...asked);
    this.#counted.reads += Math.max(1, unitsOf(items.map(({ bytes }) => bytes)));
    return items;
  }

  override readOpenings(...asked: Parameters<DynamoLimitTable['readOpenings']>) {
    this.#counted.reads += asked[0].length;
    return super.readOpenings(...asked);
  }
}

export class CountedDirectoryTable extends DynamoDirectoryTable {
  readonly #counted: TableCounts;

  constructor(counted: TableCounts) {
    super(place());
    this.#counted = counted;
  }

  override getPointer(...asked: Parameters<DynamoDirectoryTable['getPointer']>) {
    this.#counted.reads += 1;
    return super.getPointer(...asked);
  }

  override async readChunks(...asked: Parameters<DynamoDirectoryTable['readChunks']>) {
    const chunks = await super.readChunks(...asked);
    this.#counted.reads += unitsOf(chunks);
    return chunks;
  }
}

/** Counts reads of alert records: some KB each, and charged for absent items, too. A write reads the record first. */
export function countedAlertRecords(counted: TableCounts): AlertRecordStore {
  const records = dynamoAlertRecords({ ...place(), clock: systemClock, random: () => 0 });
  return {
    ...records,
    read(counters) {
      counted.reads += counters.length;
      return records.read(counters);
    },
    add(...asked) {
      counted.reads += 1;
      counted.writes += 1;
      return records.add(...asked);
    },
  };
}

/** Counts the scheduled read of all imported versions: some hundred bytes each. */
export function countedImports(counted: TableCounts): ImportedVersions {
  const imported = dynamoImportedVersions({ ...place(), clock: systemClock });
  return {
    ...imported,
    async readAll() {
      const all = await imported.readAll();
      counted.reads += readUnitsOf(JSON.stringify([...all]).length);
      return all;
    },
  };
}

export function countedSessions(counted: TableCounts): SessionStore {
  const store = dynamoSessionStore(place());
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
