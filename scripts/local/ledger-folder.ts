import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { UsageError } from '../terminal/command.ts';
import { codeOf, systemCause } from '../terminal/user-file.ts';
import { isBusy, SqliteTable } from './sqlite-table.ts';

const TABLE_FILE = 'ledger.sqlite';
const LOCK_FILE = 'npm-start.sqlite';

export function openStoredTable(dataDir: string): SqliteTable | undefined {
  const file = join(dataDir, TABLE_FILE);
  return existsSync(file) ? new SqliteTable({ file, makes: false, nowMs: systemClock.nowMs }) : undefined;
}

/**
 * @param fresh - empties it, also for programs that have the file open; the file stays.
 * @throws {UsageError} when another `npm start` has the folder, the folder cannot be written, or its file cannot be read.
 */
export function openOwnTable(dataDir: string, fresh: boolean) {
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
      close(): void {
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
