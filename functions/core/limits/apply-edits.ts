import type { DocumentProblem } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { toApprove } from './approval.ts';
import type { EditContext } from './edit-document.ts';
import type { ChangeRow, GrantRequestInput, LimitEdit } from './edit-model.ts';
import type {
  ApplyOutcome,
  EditAuthor,
  LimitRequest,
  LiveLimits,
  Person,
  Requester,
  RequestOutcome,
} from './edit-outcomes.ts';
import type { LimitReads } from './limit-reads.ts';
import { type Plan, plan, type ReadLimitSet, visibleRows } from './plan-edits.ts';
import { publishLimits } from './publish-limits.ts';
import { AUTHOR_FIELD, filedBy, fileEdits, fingerprintOf, fullOf, writeRequest } from './requests.ts';
import { deniedOf, mayDo, rolesFor } from './rights.ts';

const LENGTHS_MAX = { actor: 200, why: 500, source: 200 } as const;

/**
 * Publishes edits, all or none:
 *
 * 1. Plan them on the set they were made on. If another set is live, show both changes.
 * 2. Check the author's rights on every changed row, and that the author has seen what must be confirmed.
 * 3. If an increase needs two people, file a request instead.
 * 4. Publish the new document.
 */
export async function applyEdits(
  edits: readonly LimitEdit[],
  by: EditAuthor,
  reads: LimitReads,
  /** An approved request. The right of `by.actor` to approve it was checked. */
  approved?: EditContext['request'],
): Promise<ApplyOutcome> {
  const { deps } = reads;
  const { policy, table } = deps;
  const wrong = (['actor', 'why', 'source'] as const).flatMap((field) =>
    textProblem(field, by[field], LENGTHS_MAX[field]),
  );
  if (wrong.length > 0) return { outcome: 'invalid', problems: wrong };
  const { live, directory, nowMs } = await reads.inForce();
  const context = {
    ...{ ...personOf(by), nowMs },
    ...withoutAbsent({ request: approved, writtenAtMs: approved?.edits?.atMs }),
  };
  const planOf = (read: ReadLimitSet): Plan => plan(edits, read, { deps, directory, by: context });
  const stale = async (now: LiveLimits | undefined): Promise<ApplyOutcome> => {
    const before = await reads.baseIfThere(by.base);
    const planned = before && planOf(before);
    if (before === undefined || !planned?.ok) return { outcome: 'stale', live: now };
    const mine = planned.rows;
    const theirs = visibleRows(mine, { before, live: now, directory, nowMs });
    return { outcome: 'stale', live: now, mine, theirs };
  };
  if (live?.pointer.set !== by.base) return stale(live);

  const planned = planOf(await reads.base(by.base));
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };
  const { before, after, rows, lockout } = planned;
  if (rows.length === 0) return { outcome: 'unchanged', pointer: live?.pointer };
  if (approved?.edits !== undefined && approved.edits.fingerprint !== fingerprintOf(rows))
    return { outcome: 'stale', live, mine: rows };
  const rightsContext = { limits: before.limits, directory, nowMs };
  if (approved === undefined) {
    const forged = forgedNames(rows, by);
    if (forged.length > 0) return { outcome: 'invalid', problems: forged };
    const [denied, ...more] = deniedOf(rows, by, rightsContext);
    if (denied !== undefined) return { outcome: 'forbidden', denied: [denied, ...more] };
  }
  if (by.confirmed !== true && planned.toConfirm.length + lockout.length > 0)
    return { outcome: 'needs_confirmation', rows: planned.toConfirm, lockout };
  const two = approved === undefined ? await toApprove(rows, planned.between, deps) : [];
  const [first] = two;
  if (first !== undefined) {
    const need = { rows, toApprove: two, nowMs };
    const request = by.filing === 'never' ? undefined : await file(edits, by, need, reads);
    // Edits of several subjects need rights on all.
    const subject = request?.subject ?? first.subject;
    const approvers = rolesFor('approve', subject, { ...rightsContext, unit: first.unit });
    return { outcome: 'needs_approval', rows: two, by: approvers, ...withoutAbsent({ request }) };
  }

  const { why, source, base } = by;
  const published = await publishLimits(
    after.document,
    { ...personOf(by), why, source, atMs: nowMs, ...withoutAbsent({ base, request: approved?.id }) },
    {
      table,
      policy,
      ...withoutAbsent({ directory, packed: base === undefined ? before.limits : undefined }),
    },
  );
  if (published.outcome === 'live') return { outcome: 'live', pointer: published.pointer, rows };
  return published.outcome === 'invalid' ? published : stale(await reads.live());
}

async function file(
  edits: readonly LimitEdit[],
  by: EditAuthor,
  need: Parameters<typeof fileEdits>[2],
  reads: LimitReads,
): Promise<LimitRequest | undefined> {
  const [edit] = edits;
  if (edits.length > 1 || edit?.kind !== 'grant') return fileEdits(edits, by, need, reads.deps);
  const { kind: _, ...grant } = edit;
  // A user who may grant may also request.
  const filed = await fileRequest(grant, { ...personOf(by), rights: [{ role: 'finance' }] }, reads);
  return filed.outcome === 'filed' ? filed.request : undefined;
}

const LINK_CHARACTERS_MAX = 500;

export async function fileRequest(
  ask: GrantRequestInput,
  by: Requester,
  reads: LimitReads,
): Promise<RequestOutcome> {
  const { deps } = reads;
  const { actor, rights } = by;
  const { directory, read, context, nowMs } = await reads.inForce();
  if (!mayDo('ask', ask.subject, rights, context))
    return { outcome: 'forbidden', act: 'ask', needs: rolesFor('ask', ask.subject) };
  const { link = '', ...grant } = ask;
  const wrong = [
    ...textProblem('actor', actor, LENGTHS_MAX.actor),
    ...(link.length > LINK_CHARACTERS_MAX ? textProblem('link', link, LINK_CHARACTERS_MAX) : []),
  ];
  if (wrong.length > 0) return { outcome: 'invalid', problems: wrong };
  const planned = plan([{ kind: 'grant', ...grant }], read, { deps, directory, by: { actor, nowMs } });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };
  const full = await fullOf(by, deps.table, nowMs);
  if (full !== undefined) return { outcome: 'too_many', ...full };
  const request: LimitRequest = { ...ask, ...filedBy(by, nowMs, deps.newId()) };
  await writeRequest({ rev: 1, request }, deps.table);
  return { outcome: 'filed', request };
}

function textProblem(field: string, text: string, max: number): readonly DocumentProblem[] {
  const isMissing = text.trim() === '';
  if (!isMissing && text.length <= max) return [];
  const given = isMissing ? 'missing' : `${text.length} characters`;
  return [{ path: [field], message: `${given}; expected a text of at most ${max} characters` }];
}

/** Only admins may import other names, to restore an export. */
function forgedNames(
  rows: readonly ChangeRow[],
  { actor, userId, rights }: EditAuthor,
): readonly DocumentProblem[] {
  if (rights.some(({ role }) => role === 'admin')) return [];
  return rows.flatMap(({ about, limit, subject, id, field, to, whole }): readonly DocumentProblem[] => {
    if (about === 'limit' || !AUTHOR_FIELD.test(field) || whole === 'removed') return [];
    const isOwnId = ['by_user', 'reviewed_by_user'].includes(field) && userId !== undefined && to === userId;
    const isOwnName =
      (field === 'by' && to === actor) ||
      (field === 'reviewed' && (to === actor || String(to).startsWith(`${actor}: `)));
    if (isOwnId || isOwnName) return [];
    const message = `'${to}' on ${id ?? limit}; Tollgate writes the authors: leave it as it was, or out`;
    return [{ path: [subject, field], message }];
  });
}

const personOf = ({ actor, userId }: Person): Person => ({ actor, ...withoutAbsent({ userId }) });
