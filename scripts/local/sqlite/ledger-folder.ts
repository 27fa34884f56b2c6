/** The ledger folder of `npm start`: the table's file, its notes, and its lock. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { UsageError } from '../../terminal/command.ts';
import { codeOf, systemCause } from '../../terminal/system-failure.ts';
import { isBusy, SqliteTable } from './sqlite-table.ts';

const TABLE_FILE = 'ledger.sqlite';
const LOCK_FILE = 'npm-start.sqlite';

/** Below the project's folder. @param root - with a slash at its end */
export const ledgerFolder = (root: string): string => `${root}.tollgate/ledger`;

/** One line about books that an older version kept in DynamoDB Local; undefined: there are none. */
export const olderBooks = (root: string): string | undefined =>
  existsSync(`${root}.tollgate/dynamodb`)
    ? '.tollgate/dynamodb has the books of an older version; nothing reads them any more, and the folder may be deleted'
    : undefined;

/** Opens the ledger for a command next to `npm start`; undefined: there is none. */
export function openKept(dataDir: string): SqliteTable | undefined {
  const file = join(dataDir, TABLE_FILE);
  return existsSync(file) ? new SqliteTable({ file, makes: false, nowMs: systemClock.nowMs }) : undefined;
}

/** The ledger for `npm start`, alone of its kind until it lets go. */
interface OwnLedger {
  readonly table: SqliteTable;
  close(): void;
}

/**
 * @param fresh - empties it; a program that reads beside us sees it empty, and its file stays.
 * @throws {UsageError} when another `npm start` has the folder, the folder cannot be written, or its file cannot be read.
 */
export function openOwn(dataDir: string, fresh: boolean): OwnLedger {
  const lock = locked(dataDir);
  try {
    const table = openTable(join(dataDir, TABLE_FILE), fresh);
    if (fresh) {
      table.empty();
      for (const name of readdirSync(dataDir))
        if (!name.includes('.sqlite')) rmSync(join(dataDir, name), { recursive: true });
    }
    return {
      table,
      close() {
        table.close();
        letGo(lock);
      },
    };
  } catch (error) {
    letGo(lock);
    throw error;
  }
}

/** A lock that nothing refers to any more would be collected, and let go of. */
const held = new Set<DatabaseSync>();

/** A lock that the system releases when this program ends. */
function locked(dataDir: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    lock = new DatabaseSync(join(dataDir, LOCK_FILE), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    held.add(lock);
    return lock;
  } catch (error) {
    lock?.close();
    if (isBusy(error))
      throw new UsageError(
        `${dataDir} is in use: another npm start runs here. Let it end first, or say --memory`,
      );
    // SQLite has codes of its own.
    const isSqlite = codeOf(error) === 'ERR_SQLITE_ERROR' && error instanceof Error;
    const cause = isSqlite ? `${error.message}; check the rights of the folder` : systemCause(error);
    throw new UsageError(`${dataDir}: cannot keep a ledger: ${cause}, or say --memory`);
  }
}

function letGo(lock: DatabaseSync): void {
  held.delete(lock);
  lock.close();
}

function openTable(file: string, fresh: boolean): SqliteTable {
  const open = () => new SqliteTable({ file, makes: true, nowMs: systemClock.nowMs });
  try {
    return open();
  } catch (error) {
    if (!fresh || isBusy(error)) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(`${file} cannot be opened (${why}); --fresh starts over with an empty one`);
    }
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    return open();
  }
}
