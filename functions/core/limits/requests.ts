/** Requests as they are kept: filed once, decided once, gone after 30 days. The edits of a request are stored separately. */
import { createHash } from 'node:crypto';
import { isRecord } from '../../../policies/document/reading.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ChangeRow, LimitEdit } from './edit-model.ts';
import type { EditAuthor, EditRequest, LimitRequest, Person } from './edit-outcomes.ts';
import { LimitsError, type LimitTable, packJson, unpackJson, WITHIN } from './limit-table.ts';
import { isSamePerson, mayBeSame } from './rights.ts';

const KEPT_MS = 30 * DAY_MS;
/** All requesters together; with the decided ones there are twice as many at most. */
const PENDING_MAX = 500;
const PENDING_OF_ONE_MAX = 5;
const READ_MAX = 2_000;
const ROWS_MAX = 20;
const TIME_CHARACTERS = 9;

export interface StoredRequest {
  readonly rev: number;
  readonly request: LimitRequest;
}

export async function readRequests(table: LimitTable, nowMs: number): Promise<readonly StoredRequest[]> {
  const items = await table.readRequests(READ_MAX, WITHIN);
  return items
    .map(({ id, rev, bytes }) => ({ rev, request: requestOf(id, bytes) }))
    .filter(({ request }) => request.expiresAtMs > nowMs);
}

function requestOf(id: string, bytes: Uint8Array): LimitRequest {
  try {
    const request: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    // Only `writeRequest` writes it.
    if (isRecord(request) && request.id === id) return request as unknown as LimitRequest;
  } catch {
    // Reported below without values.
  }
  throw new LimitsError('limits_unreadable', `request ${id}: is damaged`);
}

export const writeRequest = ({ rev, request }: StoredRequest, table: LimitTable): Promise<boolean> =>
  table.putRequest(
    {
      id: request.id,
      rev,
      bytes: Buffer.from(JSON.stringify(request)),
      expiresAtSeconds: Math.ceil(request.expiresAtMs / 1000),
    },
    WITHIN,
  );

export const isPending = ({ request }: StoredRequest): boolean => request.state === 'pending';

/** An approved request without its grant is not final: approving it again continues. */
export const isDecided = ({ state, granted }: Pick<LimitRequest, 'state' | 'granted'>): boolean =>
  state === 'declined' || (state === 'approved' && granted);

export const requesterOf = ({ requestedBy: actor, requestedByUser: userId }: LimitRequest): Person => ({
  actor,
  ...withoutAbsent({ userId }),
});

export const isOwn = (request: LimitRequest, by: Person): boolean => isSamePerson(requesterOf(request), by);

/** Says whose requests are too many. Undefined: one more is possible. @throws {LimitsError} */
export async function fullOf(by: Person, table: LimitTable, nowMs: number) {
  const pending = (await readRequests(table, nowMs)).filter(isPending);
  const own = pending.filter(({ request }) => mayBeSame(requesterOf(request), by));
  if (own.length >= PENDING_OF_ONE_MAX) return { whose: 'yours', max: PENDING_OF_ONE_MAX } as const;
  return pending.length >= PENDING_MAX ? ({ whose: 'all', max: PENDING_MAX } as const) : undefined;
}

export const filedBy = ({ actor, userId }: Person, nowMs: number, unique: string) => ({
  id: `r-${nowMs.toString(36).padStart(TIME_CHARACTERS, '0')}-${unique.toLowerCase()}`,
  state: 'pending' as const,
  requestedBy: actor,
  ...withoutAbsent({ requestedByUser: userId }),
  requestedAtMs: nowMs,
  granted: false,
  expiresAtMs: nowMs + KEPT_MS,
});

/**
 * Files edits for approval by another user. Undefined: too many requests are waiting. The caller has checked
 * the author's rights and texts. @throws {LimitsError}
 */
export async function fileEdits(
  edits: readonly LimitEdit[],
  by: EditAuthor,
  { rows, toApprove, nowMs }: Record<'rows' | 'toApprove', readonly ChangeRow[]> & { readonly nowMs: number },
  { table, newId }: { readonly table: LimitTable; readonly newId: () => string },
): Promise<EditRequest | undefined> {
  if ((await fullOf(by, table, nowMs)) !== undefined) return undefined;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const [first] = toApprove;
  const request: EditRequest = {
    ...filedBy(by, nowMs, newId()),
    subject: subjects.size === 1 ? (first?.subject ?? 'instance') : 'instance',
    limit: first?.limit ?? '',
    reason: by.why,
    edit: {
      rows: toApprove.slice(0, ROWS_MAX),
      count: rows.length,
      units: [...new Set(toApprove.flatMap(({ unit }) => unit ?? []))],
      fingerprint: fingerprintOf(rows),
    },
  };
  const set = editsSet(request.id);
  await table.putChunk(set, { name: EDITS, bytes: packJson(edits) }, WITHIN);
  await table.retire(set, Math.ceil(request.expiresAtMs / 1000), WITHIN);
  await writeRequest({ rev: 1, request }, table);
  return request;
}

const EDITS = 'edits';
const editsSet = (request: string): string => `asked#${request}`;

export async function readEdits(
  request: string,
  table: LimitTable,
): Promise<readonly LimitEdit[] | undefined> {
  const [bytes] = await table.readChunks(editsSet(request), [EDITS], WITHIN);
  return bytes && (unpackJson(bytes, `the chunk of edits of request ${request}`) as readonly LimitEdit[]);
}

/** Fields that Tollgate writes: who requested, approved or reviewed it. */
export const AUTHOR_FIELD = /^(by|requested_by|approved_by|reviewed)(_by)?(_user)?$/;

/** Authors and new ids differ with every try: the fingerprint does not depend on them. */
export function fingerprintOf(rows: readonly ChangeRow[]): string {
  const lines = rows
    .filter(({ field }) => !AUTHOR_FIELD.test(field))
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
