/**
 * The ledger's table in a SQLite file that several programs may have open. One write operation, its conditions included,
 * is one SQLite transaction. The same transaction writes the changes into a journal, which is the table's stream.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  type Answers,
  type Item,
  type ItemChange,
  type ItemTable,
  type Operations,
  TableEvaluation,
} from '../../../functions/core/store/index.ts';
import type { TableStreamRecord } from '../../../functions/settle/consume.ts';
import { ITEMS_SCHEMA, itemOfText, itemText, SqliteItems } from './sqlite-items.ts';

/** A stream record with both images, as DynamoDB writes it. */
export interface ItemChangeRecord extends TableStreamRecord {
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly OldImage?: Item;
    readonly NewImage?: Item;
  };
}

interface SqliteTableOptions {
  /** `:memory:` keeps nothing. */
  readonly file: string;
  /** Creates a file that is missing or empty. */
  readonly makes: boolean;
  /** Ages the tokens of transactions: the real time, which all programs share. */
  readonly nowMs: () => number;
}

/** The version of the tables in the file. Files of other versions are refused. */
const SCHEMA_VERSION = 1;
/** SQLite blocks this program for at most this long while another one writes; a write takes a millisecond. */
const BUSY_MS = 500;
/** A reader that falls further behind misses changes, as one of DynamoDB's stream does after a day. */
const JOURNAL_MAX = 20_000;
/** Old entries of the journal and old tokens are deleted once per this many changes. */
const TRIM_EVERY = 1_000;
/** Lambda's default batch size. */
export const STREAM_BATCH_MAX = 100;

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
  /** Wakes each reader of the stream. */
  readonly #readers = new Set<() => void>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #note: StatementSync;
  readonly #trim: StatementSync;
  readonly #noted: StatementSync;

  /** @throws {Error} if the file has another format, has no table and must not be created, or stays busy. */
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
      for (const wake of this.#readers) wake();
      return written;
    } catch (error) {
      if (isBusy(error) && name === 'TransactWriteItems') return { outcome: 'throttled' } as Answers[Name];
      throw asTheTables(error);
    }
  }

  /**
   * Yields batches of the changes by this and other programs from now on, in order. After the signal it yields what is
   * already written, then ends.
   *
   * @param pause - the time between two looks at other programs' changes; own changes arrive immediately.
   */
  stream(signal: AbortSignal, pause: () => Promise<void>): AsyncIterable<readonly ItemChangeRecord[]> {
    const last = this.#database.prepare('SELECT coalesce(max(sequence), 0) AS last FROM journal').get();
    let wake = (): void => {};
    const wakeReader = (): void => wake();
    this.#readers.add(wakeReader);
    signal.addEventListener('abort', wakeReader, { once: true });
    const lookForOthers = async (): Promise<void> => {
      while (!signal.aborted) {
        await pause();
        wake();
      }
      this.#readers.delete(wakeReader);
    };
    void lookForOthers();
    const read = this.#noted;
    return (async function* batches() {
      for (let since = Number(last?.last); ; ) {
        const rows = read.all(since, STREAM_BATCH_MAX);
        since = Number(rows.at(-1)?.sequence ?? since);
        if (rows.length > 0) yield rows.map(recordIn);
        else if (signal.aborted) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    })();
  }

  /** Deletes everything, also for other programs that have the file open. */
  empty(): void {
    this.#inTransaction(() =>
      this.#database.exec('DELETE FROM items; DELETE FROM tokens; DELETE FROM journal'),
    );
  }

  /** Deletes the items that DynamoDB's TTL would have deleted by then, without a stream record. */
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
      // After some faults SQLite has rolled back on its own.
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

/** Sequences are never reused, so a reader in another program continues after `empty`. */
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

function recordIn({
  sequence,
  old_item: before,
  new_item: after,
}: Record<string, unknown>): ItemChangeRecord {
  return {
    eventName: typeof after !== 'string' ? 'REMOVE' : typeof before !== 'string' ? 'INSERT' : 'MODIFY',
    dynamodb: {
      SequenceNumber: String(sequence),
      ...(typeof before === 'string' && { OldImage: itemOfText(before) }),
      ...(typeof after === 'string' && { NewImage: itemOfText(after) }),
    },
  };
}

/** The low byte of a result code, https://sqlite.org/rescode.html. */
const SQLITE_BUSY = 5;

/** True if another program holds the file. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;

/** Gives an error DynamoDB's name, by which the stores know if a retry may help. */
function asTheTables(error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const name = isBusy(error) ? 'ThrottlingException' : 'InternalServerError';
  return Object.assign(new Error(error.message, { cause: error }), { name });
}
