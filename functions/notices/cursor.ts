/** The cursor of the notices: one item, written after the messages were taken. Its field names are those of stored items. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { recipientKey } from '../core/notify/recipient.ts';
import { getItem, itemAt, putItem } from '../core/store/calls.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { atRev, type InstanceTable, TimeLimit } from '../core/store/operation.ts';
import { answered, LedgerError, type TableFailure } from '../core/store/table-failure.ts';
import type { Checkpoint, JobCounts, Notice } from './notice.ts';

export interface Cursor {
  /** The last edit with sent notices. */
  readonly edit: number;
  /** Nothing in this set of limits falls due before `atMs`. */
  readonly due?: { readonly set: string; readonly atMs: number };
  /** Keyed by request. */
  readonly requests: Readonly<Record<string, RequestCheckpoint>>;
  /** End of each grant with a sent notice; dropped after that end. */
  readonly ending: Readonly<Record<string, number>>;
  /** The day of the last forecasts. */
  readonly forecastDay?: string;
  /** Keyed by break-glass. */
  readonly breakGlasses: Readonly<Record<string, BreakGlassCheckpoint>>;
  /** Job counts that owners know, of today and yesterday. */
  readonly tallies: Tallies;
  /** The last run found rejected jobs. Their lists may lag behind the counts, so the next run reads them again. */
  readonly again?: boolean;
  /** Notes in merge requests, keyed by request. */
  readonly notes?: Readonly<Record<string, NoteCheckpoint>>;
  /** Hashes of notices sent by a run that did not complete. */
  readonly sent: readonly string[];
}

export interface RequestCheckpoint {
  /** Number of messages that asked for a decision. */
  readonly asked: number;
  /** Unix ms of the last message. */
  readonly atMs: number;
  /** The decision was reported. */
  readonly decided: boolean;
}

export interface BreakGlassCheckpoint {
  /** Jobs that the owner knows of. */
  readonly used: number;
  /** Number of messages that asked for a review. */
  readonly reviews: number;
  readonly atMs: number;
}

export interface NoteCheckpoint {
  /** Hash of the note's text; absent if no write is known to have succeeded. */
  readonly text?: string;
  /** Number of the limit edit that the text was made with. */
  readonly edit: number;
  /** Unix ms. Until then an edit may change the text. */
  readonly untilMs?: number;
  /** Failed tries since the last success. */
  readonly tries: number;
  readonly againAtMs?: number;
}

/** Keyed by day, then by subject; `*` is the instance. */
export type Tallies = Readonly<Record<string, Readonly<Record<string, JobCounts>>>>;

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

/** Identifies a notice to one recipient. */
export const noticeHash = ({ id, to }: Notice): string =>
  createHash('sha256')
    .update(`${recipientKey(to)} ${id}`)
    .digest('base64url')
    .slice(0, HASH_CHARACTERS);

/** The cursor after a run that sent only some of its notices. */
export function advancePartly(cursor: Cursor, sent: readonly Notice[]): Cursor {
  const hashes = [...(cursor.sent ?? []), ...sent.map(noticeHash)].slice(-HASHES_MAX);
  return sent.flatMap(({ checkpoints = [] }) => checkpoints).reduce(advance, { ...cursor, sent: hashes });
}

function advance(cursor: Cursor, checkpoint: Checkpoint): Cursor {
  if (checkpoint.kind === 'break-glass') {
    const { id, used } = checkpoint;
    const before = cursor.breakGlasses[id] ?? { reviews: 0, atMs: 0 };
    return { ...cursor, breakGlasses: { ...cursor.breakGlasses, [id]: { ...before, used } } };
  }
  const { day, subject, counts } = checkpoint;
  const onDay = cursor.tallies[day] ?? {};
  const next = { ...onDay, [subject]: { ...onDay[subject], ...counts } };
  return { ...cursor, tallies: { ...cursor.tallies, [day]: next } };
}

export interface StoredCursor {
  readonly rev: number;
  readonly cursor: Cursor;
}

export interface CursorStore {
  /** Reads consistently; undefined before the first run. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<StoredCursor | undefined>;
  /** Resolves to false if another run wrote first. @throws {LedgerError} `ledger_unavailable`: it may be written. */
  write(stored: StoredCursor): Promise<boolean>;
}

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const BYTES = 'by';
/** An item unpacks to a few MB. */
const CHARACTERS_MAX = 16 * 1024 * 1024;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export function dynamoCursorStore({ table, instance }: InstanceTable): CursorStore {
  const key = ledgerKeys(instance).noticesCursor;
  const failure: TableFailure = (doing, why) =>
    new LedgerError('ledger_unavailable', `could not ${doing} the cursor of the notices (${why})`);
  return {
    read: async () => {
      const item = await answered('read', failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));
      const bytes = item?.[BYTES]?.B;
      if (bytes === undefined) return undefined;
      const text = brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8');
      return { rev: Number(item?.[REV]?.N), cursor: JSON.parse(text) as Cursor };
    },
    write: async ({ rev, cursor }) => {
      const bytes = brotliCompressSync(JSON.stringify(cursor), BROTLI);
      const item = itemAt(key, { [REV]: { N: String(rev) }, [BYTES]: { B: bytes } });
      const { outcome } = await answered('write', failure, () =>
        putItem(table, item, new TimeLimit(TIMEOUT_MS), atRev(REV, rev - 1)),
      );
      return outcome === 'written';
    },
  };
}
