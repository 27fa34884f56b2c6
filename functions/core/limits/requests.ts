/** Requests as they are kept: filed once, decided once, gone after a while. */

import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { isRecord } from '../../../policies/document/reading.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import {
  type EditAuthor,
  type EditRequest,
  isSamePerson,
  type LimitEdit,
  type LimitRequest,
  mayBeSame,
  type Person,
} from './edit-model.ts';
import type { ChangeRow } from './limit-changes.ts';
import { type LimitsDeskDeps, TIMEOUT_MS } from './limit-editing.ts';
import { LimitsError, type LimitTable } from './limit-table.ts';

/** An undecided request expires after this time. */
export const KEPT_MS = 30 * DAY_MS;
/** All requesters together; with the decided ones there are twice as many at most. */
export const PENDING_MAX = 500;
export const PENDING_OF_ONE_MAX = 5;
const READ_MAX = 2_000;

export interface StoredRequest {
  readonly rev: number;
  readonly request: LimitRequest;
}

/** Newest first, without those that expired. @throws {LimitsError} either code */
export async function readRequests(table: LimitTable, nowMs: number): Promise<readonly StoredRequest[]> {
  const items = await table.readRequests(READ_MAX, { timeoutMs: TIMEOUT_MS });
  return items
    .map(({ id, rev, bytes }) => ({ rev, request: requestOf(id, bytes) }))
    .filter(({ request }) => request.expiresAtMs > nowMs);
}

/** @returns false: it was changed meanwhile. */
export const writeRequest = ({ rev, request }: StoredRequest, table: LimitTable): Promise<boolean> =>
  table.putRequest(
    {
      id: request.id,
      rev,
      bytes: Buffer.from(JSON.stringify(request)),
      expiresAtSeconds: Math.ceil(request.expiresAtMs / 1000),
    },
    { timeoutMs: TIMEOUT_MS },
  );

export const isPending = ({ request }: StoredRequest): boolean => request.state === 'pending';

/**
 * Returns the person or subject with too many waiting requests. Undefined: one more is possible. @throws
 * {LimitsError}
 */
export async function fullOf(
  by: Person,
  table: LimitTable,
  nowMs: number,
): Promise<'yours' | 'all' | undefined> {
  const pending = (await readRequests(table, nowMs)).filter(isPending);
  const own = pending.filter(({ request }) => mayBeSame(requesterOf(request), by));
  if (own.length >= PENDING_OF_ONE_MAX) return 'yours';
  return pending.length >= PENDING_MAX ? 'all' : undefined;
}

/**
 * Returns true if the request is final. An approved request without its grant is not: approving it again
 * continues.
 */
export const isDecided = ({ request: { state, granted } }: StoredRequest): boolean =>
  state === 'declined' || (state === 'approved' && granted);

/** The requester, if known. */
export const requesterOf = ({ requestedBy, requestedByUser }: LimitRequest): Person => ({
  actor: requestedBy,
  ...(requestedByUser !== undefined && { userId: requestedByUser }),
});

export const isOwn = (request: LimitRequest, by: Person): boolean => isSamePerson(requesterOf(request), by);

/** Later ones sort higher. */
export const requestId = (nowMs: number, unique: string): string =>
  `r-${nowMs.toString(36).padStart(TIME_CHARACTERS, '0')}-${unique.toLowerCase()}`;

const TIME_CHARACTERS = 9;

function requestOf(id: string, bytes: Uint8Array): LimitRequest {
  try {
    const request: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    // Written by `writeRequest` alone.
    if (isRecord(request) && request.id === id) return request as unknown as LimitRequest;
  } catch {
    // Reported below without values.
  }
  throw new LimitsError('limits_unreadable', `request ${id}: is damaged`);
}

/**
 * The edits of a request, stored separately: an import has megabytes, and a list of requests does not read
 * them.
 */

const NAME = 'edits';
const BROTLI_QUALITY = 5;
const CHARACTERS_MAX = 256 * 1024 * 1024;

const chunkSet = (request: string): string => `asked#${request}`;

/** @param expiresAtMs - Unix ms; they go some hours later. @throws {LimitsError} */
export async function writeEdits(
  request: string,
  edits: readonly LimitEdit[],
  expiresAtMs: number,
  table: LimitTable,
): Promise<void> {
  const bytes = brotliCompressSync(JSON.stringify(edits), {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
  await table.putChunk(chunkSet(request), { name: NAME, bytes }, { timeoutMs: TIMEOUT_MS });
  await table.retire(chunkSet(request), Math.ceil(expiresAtMs / 1000), { timeoutMs: TIMEOUT_MS });
}

/** Undefined: they are gone. @throws {LimitsError} */
export async function readEdits(
  request: string,
  table: LimitTable,
): Promise<readonly LimitEdit[] | undefined> {
  const [bytes] = await table.readChunks(chunkSet(request), [NAME], { timeoutMs: TIMEOUT_MS });
  if (bytes === undefined) return undefined;
  try {
    const text = brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8');
    const edits: unknown = JSON.parse(text);
    // Written by `writeEdits` alone.
    if (Array.isArray(edits) && edits.every(isRecord)) return edits as unknown as readonly LimitEdit[];
  } catch {
    // Reported below without values.
  }
  throw new LimitsError('limits_unreadable', `the edits of request ${request}: are damaged`);
}

/** Ids and names that are new with every try: what was asked for does not depend on them. */
const BY_DESK = /^(?:by|requested_by|approved_by|reviewed)(?:_user)?$/;

/** Fingerprint of the result of edits, independent of author and time. */
export function fingerprintOf(rows: readonly ChangeRow[]): string {
  const lines = rows
    .filter(({ field }) => !BY_DESK.test(field))
    .map(({ about, subject, limit, id, field, from, to, whole }) => {
      const named = whole === 'added' ? about === 'limit' || about === 'grant' || about === 'rollout' : true;
      return JSON.stringify([
        about,
        subject,
        named ? limit : null,
        whole === 'added' ? null : (id ?? null),
        ...[field, from, to, whole ?? null],
      ]);
    });
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 32);
}

/** Rows kept with the request itself. */
const ROWS_MAX = 20;

export interface ApprovalNeed {
  /** All that the edits come to. */
  readonly rows: readonly ChangeRow[];
  readonly toApprove: readonly ChangeRow[];
  /** When they were made, Unix ms. */
  readonly nowMs: number;
}

/**
 * Files edits for approval by another user. Undefined: too many requests are waiting. The caller has checked
 * the author's rights and texts. @throws {LimitsError}
 */
export async function fileEdits(
  edits: readonly LimitEdit[],
  { actor, userId, why }: EditAuthor,
  { rows, toApprove, nowMs }: ApprovalNeed,
  { table, newId }: Pick<LimitsDeskDeps, 'table' | 'newId'>,
): Promise<EditRequest | undefined> {
  const by = { actor, ...(userId !== undefined && { userId }) };
  if ((await fullOf(by, table, nowMs)) !== undefined) return undefined;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const [first] = toApprove;
  const request: EditRequest = {
    id: requestId(nowMs, newId()),
    state: 'pending',
    subject: subjects.size === 1 ? (first?.subject ?? 'instance') : 'instance',
    limit: first?.limit ?? '',
    reason: why,
    edit: {
      rows: toApprove.slice(0, ROWS_MAX),
      count: rows.length,
      units: [...new Set(toApprove.flatMap(({ unit }) => unit ?? []))],
      fingerprint: fingerprintOf(rows),
    },
    requestedBy: actor,
    ...(userId !== undefined && { requestedByUser: userId }),
    requestedAtMs: nowMs,
    granted: false,
    expiresAtMs: nowMs + KEPT_MS,
  };
  await writeEdits(request.id, edits, request.expiresAtMs, table);
  await writeRequest({ rev: 1, request }, table);
  return request;
}
