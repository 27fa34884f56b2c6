import type { ChangeRow } from '../../changes/change-row.ts';
import type { LimitsDeskDeps } from '../contract.ts';
import type { LimitEdit } from '../limit-edit.ts';
import type { EditRequest } from '../limit-request.ts';
import type { EditAuthor } from '../outcome.ts';
import { fullOf, KEPT_MS, requestId, writeRequest } from '../request-items.ts';
import { fingerprintOf, writeEdits } from './requested-edits.ts';

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
