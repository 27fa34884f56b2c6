/**
 * The ledger's table in a SQLite file that several programs may have open. One write operation, its conditions included,
 * is one SQLite transaction. The same transaction writes the changes into a journal, which is the table's stream.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Key } from '../../functions/core/store/keys.ts';
import {
  type Answers,
  type AttributeValue,
  DUE_AT,
  DUE_PK,
  type Item,
  type ItemTable,
  keyOf,
  type Operations,
  PK,
  SK,
  TTL_ATTRIBUTE,
} from '../../functions/core/store/operation.ts';
import {
  type ItemChange,
  type ItemSpan,
  type KeptItems,
  TableEvaluation,
  TOKEN_MEMORY_MS,
} from '../../functions/core/store/table-evaluation.ts';

interface SqliteTableOptions {
  readonly file: string;
  readonly makes: boolean;
  /** Ages the tokens of transactions: the real time, which all programs share. */
  readonly nowMs: () => number;
}

/** The version of the tables in the file. Files of other versions are refused. */
const SCHEMA_VERSION = 1;
/** SQLite blocks this program for at most this long while another one writes; a write takes a millisecond. */
const BUSY_MS = 500;
const JOURNAL_MAX = 20_000;
const TRIM_EVERY = 1_000;
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
  readonly #items: ReturnType<typeof sqliteItems>;
  readonly #evaluation: TableEvaluation;
  /** The last record that each stream has read, by the function that wakes it. */
  readonly #readers = new Map<() => void, number>();
  readonly #journalMax: number;
  readonly #sql: ReturnType<typeof statements>;

  /** @throws {Error} if the file has another format, has no table and must not be created, or stays busy. */
  constructor({ file, makes, nowMs }: SqliteTableOptions) {
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS });
    // Readers in other programs are unknown here.
    this.#journalMax = file === ':memory:' ? 0 : JOURNAL_MAX;
    try {
      prepareFile(this.#database, makes);
      this.#sql = statements(this.#database);
      this.#items = sqliteItems(this.#sql, nowMs);
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
      for (const wake of this.#readers.keys()) wake();
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
    const start = Number(this.#sql.last.get()?.last);
    let wake = (): void => {};
    const wakeReader = (): void => wake();
    const readers = this.#readers.set(wakeReader, start);
    signal.addEventListener('abort', wakeReader, { once: true });
    void (async () => {
      for (; !signal.aborted; wake()) await pause();
    })();
    const read = this.#sql.noted;
    return (async function* batches() {
      for (let since = start; ; ) {
        const rows = read.all(since, STREAM_BATCH_MAX);
        since = Number(rows.at(-1)?.sequence ?? since);
        readers.set(wakeReader, since);
        if (rows.length > 0) yield rows.map(recordIn);
        else if (signal.aborted) return void readers.delete(wakeReader);
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    })();
  }

  empty(): void {
    this.#inTransaction(() =>
      this.#database.exec('DELETE FROM items; DELETE FROM tokens; DELETE FROM journal'),
    );
  }

  /** Deletes the items that DynamoDB's TTL would have deleted by then, without a stream record. */
  collectGarbage(nowMs: number): void {
    this.#inTransaction(() => this.#sql.expire.run(nowMs));
  }

  close(): void {
    this.#database.close();
  }

  #inTransaction<T>(work: () => T): T {
    this.#sql.begin.run();
    try {
      const result = work();
      this.#sql.commit.run();
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #write(changes: readonly ItemChange[]): void {
    for (const { before, after } of changes) {
      const texts = [before, after].map((item) => (item ? itemText(item) : null));
      const { lastInsertRowid } = this.#sql.note.run(...texts);
      const sequence = Number(lastInsertRowid);
      if (sequence % TRIM_EVERY !== 0) continue;
      this.#sql.trim.run(Math.min(sequence - this.#journalMax, ...this.#readers.values()));
      this.#items.forgetTokens();
    }
  }
}

/** Sequences are never reused, so a reader in another program continues after `empty`. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS items (
    at INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, due_pk TEXT, due_at REAL, item TEXT NOT NULL,
    UNIQUE (pk, sk)
  );
  CREATE INDEX IF NOT EXISTS due ON items (due_pk, due_at, pk, sk) WHERE due_pk IS NOT NULL;
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) WITHOUT ROWID;
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

export type ItemChangeRecord = ReturnType<typeof recordIn>;

function recordIn({ sequence, old_item: before, new_item: after }: Record<string, unknown>) {
  const changed = before === null ? 'INSERT' : 'MODIFY';
  return {
    eventName: after === null ? 'REMOVE' : changed,
    dynamodb: {
      SequenceNumber: String(sequence),
      ...(typeof before === 'string' && { OldImage: itemOfText(before) }),
      ...(typeof after === 'string' && { NewImage: itemOfText(after) }),
    },
  };
}

const SQLITE_BUSY = 5;

export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;

/** Gives an error DynamoDB's name, by which the stores know if a retry may help. */
function asTheTables(error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const name = isBusy(error) ? 'ThrottlingException' : 'InternalServerError';
  return Object.assign(new Error(error.message, { cause: error }), { name });
}

/** Text is ordered by its bytes, as in DynamoDB; a blob sorts after every text. */
const BEHIND_ALL = Uint8Array.of(0);
const LAST_CHARACTER = '\u{10ffff}';

function statements(database: DatabaseSync) {
  const prepared = (sql: string) => database.prepare(sql);
  const span = 'SELECT item FROM items WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk';
  const due = 'SELECT item FROM items WHERE due_pk = ? AND due_at < ? AND (due_at, pk, sk)';
  return {
    begin: prepared('BEGIN IMMEDIATE'),
    commit: prepared('COMMIT'),
    note: prepared('INSERT INTO journal (old_item, new_item) VALUES (?, ?)'),
    trim: prepared('DELETE FROM journal WHERE sequence <= ?'),
    last: prepared('SELECT coalesce(max(sequence), 0) AS last FROM journal'),
    noted: prepared('SELECT * FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?'),
    get: prepared('SELECT item FROM items WHERE pk = ? AND sk = ?'),
    put: prepared(`INSERT INTO items (pk, sk, due_pk, due_at, item) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (pk, sk) DO UPDATE SET due_pk = excluded.due_pk, due_at = excluded.due_at, item = excluded.item`),
    delete: prepared('DELETE FROM items WHERE pk = ? AND sk = ?'),
    page: prepared('SELECT at, item FROM items WHERE at >= ? ORDER BY at LIMIT ?'),
    span: { forwards: prepared(`${span} LIMIT ?`), backwards: prepared(`${span} DESC LIMIT ?`) },
    due: {
      forwards: prepared(`${due} > (?, ?, ?) ORDER BY due_at, pk, sk LIMIT ?`),
      backwards: prepared(`${due} < (?, ?, ?) ORDER BY due_at DESC, pk DESC, sk DESC LIMIT ?`),
    },
    token: prepared('SELECT 1 FROM tokens WHERE token = ? AND at_ms > ?'),
    remember: prepared('INSERT OR REPLACE INTO tokens (token, at_ms) VALUES (?, ?)'),
    forget: prepared('DELETE FROM tokens WHERE at_ms <= ?'),
    expire: prepared(`DELETE FROM items WHERE json_extract(item, '$.${TTL_ATTRIBUTE}.N') * 1000 <= ?`),
  };
}

const sqliteItems = (sql: ReturnType<typeof statements>, nowMs: () => number) =>
  ({
    get({ pk, sk }: Key) {
      const row = sql.get.get(pk, sk);
      return row && itemIn(row);
    },
    put(item: Item) {
      const { pk, sk } = keyOf(item);
      const dueAt = item[DUE_AT]?.N;
      const dueAtMs = dueAt === undefined ? null : Number(dueAt);
      sql.put.run(pk, sk, item[DUE_PK]?.S ?? null, dueAtMs, itemText(item));
    },
    delete: ({ pk, sk }: Key) => void sql.delete.run(pk, sk),
    span({ pk, sk, dueBeforeMs, backwards, from, max }: ItemSpan) {
      const direction = backwards ? 'backwards' : 'forwards';
      if (dueBeforeMs !== undefined) {
        const start = from
          ? [Number(from[DUE_AT]?.N), from[PK]?.S ?? '', from[SK]?.S ?? '']
          : [backwards ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY, '', ''];
        return sql.due[direction].all(pk, dueBeforeMs, ...start, max).map(itemIn);
      }
      const end = from?.[SK]?.S;
      let [low, high]: [string, string | Uint8Array] = ['', BEHIND_ALL];
      if (sk !== undefined)
        [low, high] = 'begins' in sk ? [sk.begins, sk.begins + LAST_CHARACTER] : ['', sk.before];
      // The first key after another one is the same key with a zero byte.
      if (end !== undefined && !backwards) low = `${end}\0`;
      if (end !== undefined && backwards) high = end;
      return sql.span[direction].all(pk, low, high, max).map(itemIn);
    },
    page(from: number, max: number) {
      const rows = sql.page.all(from, max + 1);
      const next = rows[max]?.at;
      return {
        items: rows.slice(0, max).map(itemIn),
        next: next === undefined ? undefined : Number(next),
      };
    },
    isRepeated: (token: string) => sql.token.get(token, nowMs() - TOKEN_MEMORY_MS) !== undefined,
    remember: (token: string) => void sql.remember.run(token, nowMs()),
    forgetTokens: () => void sql.forget.run(nowMs() - TOKEN_MEMORY_MS),
  }) satisfies KeptItems & { forgetTokens(): void };

const itemIn = ({ item }: Record<string, unknown>): Item => itemOfText(String(item));

function itemText(item: Item): string {
  const written: Record<string, unknown> = {};
  for (const name in item) {
    const value = item[name];
    written[name] = value?.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') };
  }
  return JSON.stringify(written);
}

function itemOfText(text: string): Item {
  const item: Record<string, AttributeValue> = JSON.parse(text);
  for (const name in item) {
    const bytes: unknown = item[name]?.B;
    if (typeof bytes === 'string') item[name] = { B: Uint8Array.from(Buffer.from(bytes, 'base64')) };
  }
  return item;
}
