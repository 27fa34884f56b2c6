/** Requests as they are kept: filed once, decided once, gone after a while. */

import { isRecord } from '../../../../policies/document/reading.ts';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import type { LimitTable } from '../limit-table.ts';
import { LimitsError } from '../limits-error.ts';
import { TIMEOUT_MS } from './desk-reads.ts';
import type { LimitRequest } from './limit-request.ts';
import { isSamePerson, mayBeSame, type Person } from './person.ts';

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
