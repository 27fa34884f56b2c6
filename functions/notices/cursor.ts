/** The cursor of the notices: one item, written after the messages were taken. Its field names are those of stored items. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { recipientKey } from '../core/notify/recipient.ts';
import { getItem, itemAt, putItem } from '../core/store/calls.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { atRev, type InstanceTable, TimeLimit } from '../core/store/operation.ts';
import { answered, LedgerError, type TableFailure } from '../core/store/table-failure.ts';
import type { Notice } from './notice.ts';

export interface Cursor {
  readonly edit: number;
  readonly due?: { readonly set: string; readonly atMs: number };
  readonly requests: Readonly<Record<string, RequestCheckpoint>>;
  /** End of each grant with a sent notice; dropped after that end. */
  readonly ending: Readonly<Record<string, number>>;
  readonly forecastDay?: string;
  readonly breakGlasses: Readonly<Record<string, BreakGlassCheckpoint>>;
  /** Job counts that owners know, of today and yesterday, by subject and name; `*` is the instance. */
  readonly tallies: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The last run found rejected jobs. Their lists may lag behind the counts, so the next run reads them again. */
  readonly again?: boolean;
  /** Requests whose note in a merge request is written, or has no place. */
  readonly notes?: Readonly<Record<string, object>>;
  readonly sent: readonly string[];
}

export interface RequestCheckpoint {
  readonly asked: number;
  readonly atMs: number;
  readonly decided: boolean;
}

export interface BreakGlassCheckpoint {
  readonly used: number;
  readonly reviews: number;
  readonly atMs: number;
}

export const START: Cursor = {
  edit: 0,
  requests: {},
  ending: {},
  breakGlasses: {},
  tallies: {},
  sent: [],
};

/** DynamoDB takes 400 KB per item. The oldest hashes are dropped, and their notices repeated. */
const HASHES_MAX = 20_000;
const HASH_CHARACTERS = 12;

export const noticeHash = ({ id, to }: Notice): string =>
  createHash('sha256')
    .update(`${recipientKey(to)} ${id}`)
    .digest('base64url')
    .slice(0, HASH_CHARACTERS);

/** The cursor after a run that sent only some of its notices: the next run finds all of them again. */
export const advancePartly = (cursor: Cursor, sent: readonly Notice[]): Cursor => ({
  ...cursor,
  sent: [...(cursor.sent ?? []), ...sent.map(noticeHash)].slice(-HASHES_MAX),
});

export interface StoredCursor {
  readonly rev: number;
  readonly cursor: Cursor;
}

export type CursorStore = ReturnType<typeof dynamoCursorStore>;

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const BYTES = 'by';
const CHARACTERS_MAX = 16 * 1024 * 1024;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Every method throws {@link LedgerError} `ledger_unavailable`: a cursor may be written. */
export function dynamoCursorStore({ table, instance }: InstanceTable) {
  const key = ledgerKeys(instance).noticesCursor;
  const failure: TableFailure = (doing, why) =>
    new LedgerError('ledger_unavailable', `could not ${doing} the cursor of the notices (${why})`);
  return {
    /** Undefined before the first run. */
    read: async (): Promise<StoredCursor | undefined> => {
      const item = await answered('read', failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));
      const bytes = item?.[BYTES]?.B;
      if (bytes === undefined) return undefined;
      const text = brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8');
      return { rev: Number(item?.[REV]?.N), cursor: JSON.parse(text) as Cursor };
    },
    /** Resolves to false if another run wrote first. */
    write: async ({ rev, cursor }: StoredCursor): Promise<boolean> => {
      const bytes = brotliCompressSync(JSON.stringify(cursor), BROTLI);
      const item = itemAt(key, { [REV]: { N: String(rev) }, [BYTES]: { B: bytes } });
      const { outcome } = await answered('write', failure, () =>
        putItem(table, item, new TimeLimit(TIMEOUT_MS), atRev(REV, rev - 1)),
      );
      return outcome === 'written';
    },
  };
}
