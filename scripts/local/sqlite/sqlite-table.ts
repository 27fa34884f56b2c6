/**
 * The table in a SQLite file that several programs may have open. One operation that writes is one transaction of the file,
 * its conditions included. What was changed goes into a journal in the same transaction: it is the table's stream.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  type Answers,
  type ItemChange,
  type ItemTable,
  type Operations,
  TableEvaluation,
} from '../../../functions/core/store/index.ts';
import { BATCH_RECORDS_MAX, type ItemChangeRecord, StreamReader, streamRecord } from '../stream-reader.ts';
import { ITEMS_SCHEMA, itemOfText, itemText, SqliteItems } from './sqlite-items.ts';

interface SqliteTableOptions {
  readonly file: string;
  /** Whether a file that is missing, or has no table yet, is made. */
  readonly makes: boolean;
  /** Ages the tokens of transactions: every program's own time, so a real one. */
  readonly nowMs: () => number;
}

/** The version of the tables in the file. A file of another one is refused. */
const SCHEMA_VERSION = 1;
/** So long this program stands still for another one that writes; what they write takes a millisecond. */
const BUSY_MS = 500;
/** A reader that falls further behind misses changes, as DynamoDB's does after a day. */
const JOURNAL_MAX = 20_000;
/** The journal and the tokens are cleared up once in so many changes. */
const TRIM_EVERY = 1_000;

const WRITES: ReadonlySet<keyof Operations> = new Set([
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'TransactWriteItems',
]);

export class SqliteTable implements ItemTable {
  readonly tableName = 'tollgate-local';
  readonly #database: DatabaseSync;
  readonly #items: SqliteItems;
  readonly #evaluation: TableEvaluation;
  readonly #readers = new Set<StreamReader>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #note: StatementSync;
  readonly #trim: StatementSync;
  readonly #noted: StatementSync;

  /** @throws {Error} when the file is none of ours, has no table and is not to be made, or stays busy. */
  constructor({ file, makes, nowMs }: SqliteTableOptions) {
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      prepareFile(this.#database, makes);
      this.#items = new SqliteItems(this.#database, nowMs);
      this.#begin = this.#database.prepare('BEGIN IMMEDIATE');
      this.#commit = this.#database.prepare('COMMIT');
      this.#note = this.#database.prepare('INSERT INTO journal (old_item, new_item) VALUES (?, ?)');
      this.#trim = this.#database.prepare('DELETE FROM journal WHERE sequence <= ?');
      this.#noted = this.#database.prepare(
        'SELECT sequence, old_item, new_item FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?',
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#evaluation = new TableEvaluation(this.#items, { onWritten: (changes) => this.#write(changes) });
  }

  async send<Name extends keyof Operations & string>(
    name: Name,
    operation: Operations[Name],
  ): Promise<Answers[Name]> {
    const answer = () => this.#evaluation.answer(name, operation);
    try {
      if (!WRITES.has(name)) return answer();
      const written = this.#inTransaction(answer);
      for (const reader of this.#readers) reader.wake();
      return written;
    } catch (error) {
      if (isBusy(error) && name === 'TransactWriteItems') return { outcome: 'throttled' } as Answers[Name];
      throw asTheTables(error);
    }
  }

  /**
   * What this and other programs write from now on, in order.
   *
   * @param pause - between two looks at what others wrote; our own writes are told at once.
   */
  stream(signal: AbortSignal, pause: () => Promise<void>): AsyncIterable<readonly ItemChangeRecord[]> {
    const last = this.#database.prepare('SELECT coalesce(max(sequence), 0) AS last FROM journal').get();
    let since = Number(last?.last);
    const reader = new StreamReader(() => {
      const rows = this.#noted.all(since, BATCH_RECORDS_MAX);
      since = Number(rows.at(-1)?.sequence ?? since);
      return rows.map((row) => streamRecord(changeIn(row), Number(row.sequence)));
    }, signal);
    this.#readers.add(reader);
    const look = async (): Promise<void> => {
      while (!signal.aborted) {
        await pause();
        reader.wake();
      }
      this.#readers.delete(reader);
    };
    void look();
    return reader.batches();
  }

  /** Forgets everything, for other programs that have the file open as well. */
  empty(): void {
    this.#inTransaction(() =>
      this.#database.exec('DELETE FROM items; DELETE FROM tokens; DELETE FROM journal'),
    );
  }

  /** Deletes what DynamoDB's TTL would have deleted by then; the stream does not tell it. */
  collectGarbage(nowMs: number): void {
    this.#inTransaction(() => this.#items.collectGarbage(nowMs));
  }

  close(): void {
    this.#database.close();
  }

  #inTransaction<T>(work: () => T): T {
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // After some faults SQLite has rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #write(changes: readonly ItemChange[]): void {
    for (const { before, after } of changes) {
      const { lastInsertRowid } = this.#note.run(
        before ? itemText(before) : null,
        after ? itemText(after) : null,
      );
      const sequence = Number(lastInsertRowid);
      if (sequence % TRIM_EVERY !== 0) continue;
      this.#trim.run(sequence - JOURNAL_MAX);
      this.#items.forgetTokens();
    }
  }
}

/** Sequences are never given twice, so a reader in another program goes on behind whatever was emptied. */
const SCHEMA = `${ITEMS_SCHEMA}
  CREATE TABLE IF NOT EXISTS journal (sequence INTEGER PRIMARY KEY AUTOINCREMENT, old_item TEXT, new_item TEXT);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

function prepareFile(database: DatabaseSync, makes: boolean): void {
  const version = () => Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version() === 0 && makes) {
    database.exec('PRAGMA journal_mode = WAL');
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
  }
  if (version() !== SCHEMA_VERSION)
    throw new Error(`its form is ${version()}; this version of Tollgate reads form ${SCHEMA_VERSION}`);
  // A program's death loses nothing; a machine's may lose the last writes, never the file.
  database.exec('PRAGMA synchronous = NORMAL');
}

function changeIn({ old_item: before, new_item: after }: Record<string, unknown>): ItemChange {
  return {
    ...(typeof before === 'string' && { before: itemOfText(before) }),
    ...(typeof after === 'string' && { after: itemOfText(after) }),
  };
}

/** https://sqlite.org/rescode.html; the rest of the number says which kind. */
const SQLITE_BUSY = 5;

/** Whether another program holds the file. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;

/** Under DynamoDB's names, by which the stores know what may be tried again. */
function asTheTables(error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const name = isBusy(error) ? 'ThrottlingException' : 'InternalServerError';
  return Object.assign(new Error(error.message, { cause: error }), { name });
}
