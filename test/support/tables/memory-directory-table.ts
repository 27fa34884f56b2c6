import {
  DirectoryError,
  type DirectoryTable,
  DynamoDirectoryTable,
} from '../../../functions/core/directory/directory-table.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../functions/core/store/operation.ts';
import { type LostAnswer, withLostAnswers } from './lost-answers.ts';

export type DirectoryOperation = keyof DirectoryTable;
export type DirectoryFault = LostAnswer;

const CHUNKS = 'gitlab.example.com@directory#';

class StoredDirectory extends DynamoDirectoryTable {
  readonly #items: MemoryTable;

  constructor(items: MemoryTable) {
    super({ table: items, instance: 'gitlab.example.com' });
    this.#items = items;
  }

  /** Version and name of the chunks that are stored, live or not. */
  get stored(): readonly string[] {
    return this.#items.items().flatMap((item) => {
      const { pk, sk } = keyOf(item);
      const isChunk = pk.startsWith(CHUNKS) && sk.endsWith('#000');
      return isChunk ? [`${pk.slice(CHUNKS.length)} ${sk.slice(0, sk.lastIndexOf('#'))}`] : [];
    });
  }

  /** What DynamoDB does by the way: chunks whose time is up are gone. */
  collectGarbage(nowMs: number): void {
    this.#items.collectGarbage(nowMs);
  }
}

export type MemoryDirectoryTable = StoredDirectory;

export const memoryDirectoryTable = (
  fault: (operation: DirectoryOperation) => DirectoryFault = () => undefined,
): MemoryDirectoryTable =>
  withLostAnswers(
    new StoredDirectory(new MemoryTable()),
    (operation) => (operation === 'stored' || operation === 'collectGarbage' ? undefined : fault(operation)),
    (why) => new DirectoryError('directory_unavailable', why),
    ['collectGarbage'],
  );
