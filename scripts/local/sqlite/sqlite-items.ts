/** Items in a SQLite file: as JSON, with their keys in columns. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type AttributeValue,
  DUE_AT,
  DUE_PK,
  type Item,
  type ItemSpan,
  type KeptItems,
  type Key,
  keyOf,
  PK,
  SK,
  TOKEN_MEMORY_MS,
  TTL_ATTRIBUTE,
} from '../../../functions/core/store/index.ts';

/** `at` is the order of scans: it rises with every new item. */
export const ITEMS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS items (
    at INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, due_pk TEXT, due_at REAL, item TEXT NOT NULL,
    UNIQUE (pk, sk)
  );
  CREATE INDEX IF NOT EXISTS due ON items (due_pk, due_at, pk, sk) WHERE due_pk IS NOT NULL;
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Text is ordered by its bytes, as in DynamoDB; a blob sorts after every text. */
const BEHIND_ALL = Uint8Array.of(0);
const LAST_CHARACTER = '\u{10ffff}';

export class SqliteItems implements KeptItems {
  readonly #nowMs: () => number;
  readonly #get: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #page: StatementSync;
  readonly #span: Record<'forwards' | 'backwards', StatementSync>;
  readonly #due: Record<'forwards' | 'backwards', StatementSync>;
  readonly #token: StatementSync;
  readonly #remember: StatementSync;
  readonly #forget: StatementSync;
  readonly #expire: StatementSync;

  constructor(database: DatabaseSync, nowMs: () => number) {
    this.#nowMs = nowMs;
    const prepared = (sql: string): StatementSync => database.prepare(sql);
    this.#get = prepared('SELECT item FROM items WHERE pk = ? AND sk = ?');
    this.#put = prepared(`INSERT INTO items (pk, sk, due_pk, due_at, item) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (pk, sk) DO UPDATE SET due_pk = excluded.due_pk, due_at = excluded.due_at, item = excluded.item`);
    this.#delete = prepared('DELETE FROM items WHERE pk = ? AND sk = ?');
    this.#page = prepared('SELECT at, item FROM items WHERE at >= ? ORDER BY at LIMIT ?');
    const span = 'SELECT item FROM items WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk';
    this.#span = {
      forwards: prepared(`${span} LIMIT ?`),
      backwards: prepared(`${span} DESC LIMIT ?`),
    };
    const due = 'SELECT item FROM items WHERE due_pk = ? AND due_at < ? AND (due_at, pk, sk)';
    this.#due = {
      forwards: prepared(`${due} > (?, ?, ?) ORDER BY due_at, pk, sk LIMIT ?`),
      backwards: prepared(`${due} < (?, ?, ?) ORDER BY due_at DESC, pk DESC, sk DESC LIMIT ?`),
    };
    this.#token = prepared('SELECT 1 FROM tokens WHERE token = ? AND at_ms > ?');
    this.#remember = prepared('INSERT OR REPLACE INTO tokens (token, at_ms) VALUES (?, ?)');
    this.#forget = prepared('DELETE FROM tokens WHERE at_ms <= ?');
    this.#expire = prepared(`DELETE FROM items WHERE json_extract(item, '$.${TTL_ATTRIBUTE}.N') * 1000 <= ?`);
  }

  get({ pk, sk }: Key): Item | undefined {
    const row = this.#get.get(pk, sk);
    return row && itemIn(row);
  }

  put(item: Item): void {
    const { pk, sk } = keyOf(item);
    const dueAt = item[DUE_AT]?.N;
    this.#put.run(
      pk,
      sk,
      item[DUE_PK]?.S ?? null,
      dueAt === undefined ? null : Number(dueAt),
      itemText(item),
    );
  }

  delete({ pk, sk }: Key): void {
    this.#delete.run(pk, sk);
  }

  span({ pk, sk, dueBeforeMs, backwards, from, max }: ItemSpan): readonly Item[] {
    const direction = backwards ? 'backwards' : 'forwards';
    if (dueBeforeMs !== undefined) {
      const start = from
        ? [Number(from[DUE_AT]?.N), from[PK]?.S ?? '', from[SK]?.S ?? '']
        : [backwards ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY, '', ''];
      return this.#due[direction].all(pk, dueBeforeMs, ...start, max).map(itemIn);
    }
    const end = from?.[SK]?.S;
    let [low, high]: [string, string | Uint8Array] = ['', BEHIND_ALL];
    if (sk !== undefined)
      [low, high] = 'begins' in sk ? [sk.begins, sk.begins + LAST_CHARACTER] : ['', sk.before];
    // The first key after another one is the same key with a zero byte.
    if (end !== undefined && !backwards) low = `${end}\0`;
    if (end !== undefined && backwards) high = end;
    return this.#span[direction].all(pk, low, high, max).map(itemIn);
  }

  page(from: number, max: number): { readonly items: readonly Item[]; readonly next: number | undefined } {
    const rows = this.#page.all(from, max + 1);
    const next = rows[max]?.at;
    return {
      items: rows.slice(0, max).map(itemIn),
      next: next === undefined ? undefined : Number(next),
    };
  }

  isRepeated(token: string): boolean {
    return this.#token.get(token, this.#nowMs() - TOKEN_MEMORY_MS) !== undefined;
  }

  remember(token: string): void {
    this.#remember.run(token, this.#nowMs());
  }

  /** Deletes tokens that are too old. */
  forgetTokens(): void {
    this.#forget.run(this.#nowMs() - TOKEN_MEMORY_MS);
  }

  /** Deletes items that DynamoDB's TTL would have deleted by then. */
  collectGarbage(nowMs: number): void {
    this.#expire.run(nowMs);
  }
}

const itemIn = ({ item }: Record<string, unknown>): Item => itemOfText(String(item));

/** JSON has no bytes. */
export function itemText(item: Item): string {
  const written: Record<string, unknown> = {};
  for (const name in item) {
    const value = item[name];
    written[name] = value?.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') };
  }
  return JSON.stringify(written);
}

export function itemOfText(text: string): Item {
  const item: Record<string, AttributeValue> = JSON.parse(text);
  for (const name in item) {
    const bytes: unknown = item[name]?.B;
    if (typeof bytes === 'string') item[name] = { B: Uint8Array.from(Buffer.from(bytes, 'base64')) };
  }
  return item;
}
