/**
 * The change log: one item per edit, written in the transaction that publishes the edit, and kept forever.
 * Rows of a large edit are written next to the chunks of its set, before it is published, and stay when
 * those expire.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { isRecord } from '../../../policies/document/reading.ts';
import type { ChangeRow } from './changes/change-row.ts';
import type { LimitChange } from './limit-set.ts';
import type { LimitTable, LogItem } from './limit-table.ts';
import { LimitsError } from './limits-error.ts';

/** One edit, as it is kept. */
export interface LoggedChange extends LimitChange {
  readonly set: string;
  /** Number of rows. */
  readonly count: number;
  /** All subjects it changed; absent: too many to list. */
  readonly subjects?: readonly string[];
  /** Absent: stored separately, or unknown (`count` 0). */
  readonly rows?: readonly ChangeRow[];
}

/** An item with this many rows and texts stays below 8 KB, so a page of a hundred is one read. */
const ROWS_INLINE_MAX = 40;
const SUBJECTS_MAX = 40;
/** About 3 MB compressed; `count` has the total. A first import of 10 000 limits has half of them. */
const LOGGED_ROWS_MAX = 100_000;
const TIMEOUT_MS = 5_000;
const CHARACTERS_MAX = 256 * 1024 * 1024;
const ROWS = 'rows';

export const rowsSet = (set: string): string => `changes#${set}`;

/**
 * Returns the writes at publication and before. @param rows - undefined: the base cannot be read any more.
 */
export function logOf(
  edit: number,
  set: string,
  change: LimitChange,
  rows: readonly ChangeRow[] | undefined,
): { readonly item: LogItem; readonly aside?: Uint8Array } {
  const subjects = [...new Set(rows?.map(({ subject }) => subject))];
  const inline = rows !== undefined && rows.length <= ROWS_INLINE_MAX;
  const logged: LoggedChange = {
    ...change,
    set,
    count: rows?.length ?? 0,
    ...(rows !== undefined && subjects.length <= SUBJECTS_MAX && { subjects }),
    ...(inline && { rows }),
  };
  const item = { edit, bytes: packed(logged) };
  return rows === undefined || inline ? { item } : { item, aside: packed(rows.slice(0, LOGGED_ROWS_MAX)) };
}

/** @throws {LimitsError} `limits_unreadable` */
export function loggedChangeOf({ edit, bytes }: LogItem): LoggedChange {
  const logged = unpacked(bytes, `entry ${edit}`);
  if (!isRecord(logged) || typeof logged.set !== 'string') throw unreadable(`entry ${edit}`);
  // Written by `logOf` alone.
  return logged as unknown as LoggedChange;
}

/** Reads the rows of an edit. Undefined: they are unknown. @throws {LimitsError} either code */
export async function rowsOf(
  logged: LoggedChange,
  table: LimitTable,
): Promise<readonly ChangeRow[] | undefined> {
  if (logged.rows !== undefined || logged.count === 0) return logged.rows;
  const [bytes] = await table.readChunks(rowsSet(logged.set), [ROWS], { timeoutMs: TIMEOUT_MS });
  if (bytes === undefined) return undefined;
  const rows = unpacked(bytes, `rows of ${logged.set}`);
  if (!Array.isArray(rows)) throw unreadable(`rows of ${logged.set}`);
  return rows as readonly ChangeRow[];
}

/** @throws {LimitsError} `limits_unavailable` */
export const writeRows = (set: string, bytes: Uint8Array, table: LimitTable): Promise<void> =>
  table.putChunk(rowsSet(set), { name: ROWS, bytes }, { timeoutMs: TIMEOUT_MS });

const packed = (value: unknown): Uint8Array =>
  brotliCompressSync(JSON.stringify(value), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

function unpacked(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8'));
  } catch {
    throw unreadable(what);
  }
}

const unreadable = (what: string): LimitsError =>
  new LimitsError('limits_unreadable', `the change log, ${what}: is damaged`);
