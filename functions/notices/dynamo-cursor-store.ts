import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import {
  answered,
  atRev,
  getItem,
  type InstanceTable,
  itemAt,
  LedgerError,
  ledgerKeys,
  putItem,
  type TableFailure,
  TimeLimit,
} from '../core/store/index.ts';
import type { Cursor, CursorStore } from './gather/cursor.ts';

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const BYTES = 'by';
/** An item unfolds to a few MB at most. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

export function dynamoCursorStore({ table, instance }: InstanceTable): CursorStore {
  const key = ledgerKeys(instance).noticesCursor;
  return {
    read: async () => {
      const item = await answered('read', failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));
      const bytes = item?.[BYTES]?.B;
      return bytes === undefined ? undefined : { rev: Number(item?.[REV]?.N), cursor: unpacked(bytes) };
    },
    write: async ({ rev, cursor }) => {
      const item = itemAt(key, { [REV]: { N: String(rev) }, [BYTES]: { B: packed(cursor) } });
      const { outcome } = await answered('write', failure, () =>
        putItem(table, item, new TimeLimit(TIMEOUT_MS), atRev(REV, rev - 1)),
      );
      return outcome === 'written';
    },
  };
}

const failure: TableFailure = (doing, why) =>
  new LedgerError('ledger_unavailable', `could not ${doing} the cursor of the notices (${why})`);

const packed = (cursor: Cursor): Uint8Array =>
  brotliCompressSync(JSON.stringify(cursor), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

// Written by `packed` alone.
const unpacked = (bytes: Uint8Array): Cursor =>
  JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8')) as Cursor;
