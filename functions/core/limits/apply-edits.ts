import type { DocumentProblem } from '../../../policies/document/reading.ts';
import { toApprove } from './approval.ts';
import type { EditContext } from './edit-draft.ts';
import type {
  ApplyOutcome,
  Asker,
  EditAuthor,
  GrantAsk,
  LimitEdit,
  LimitRequest,
  LiveLimits,
  Person,
  RequestOutcome,
} from './edit-model.ts';
import type { ChangeRow } from './limit-changes.ts';
import type { DeskReader, LimitsDeskDeps } from './limit-editing.ts';
import { type Plan, plan, type ReadLimitSet, visibleRows } from './plan-edits.ts';
import { publishLimits } from './publish-limits.ts';
import {
  type ApprovalNeed,
  fileEdits,
  fingerprintOf,
  fullOf,
  KEPT_MS,
  PENDING_MAX,
  PENDING_OF_ONE_MAX,
  requestId,
  writeRequest,
} from './requests.ts';
import { deniedOf, mayDo, rolesFor } from './rights.ts';

export interface ApplyContext {
  readonly deps: LimitsDeskDeps;
  readonly reads: DeskReader;
  /** Files a single grant that needs approval. */
  readonly fileGrant?: (
    edit: Extract<LimitEdit, { kind: 'grant' }>,
    by: Person,
  ) => Promise<LimitRequest | undefined>;
  /** It was asked for and is approved by `by.actor`, whose right to do so was looked at. */
  readonly asked?: NonNullable<EditContext['asked']>;
}

const LENGTHS_MAX = { actor: 200, why: 500, source: 200 } as const;

export async function applyEdits(
  edits: readonly LimitEdit[],
  by: EditAuthor,
  using: ApplyContext,
): Promise<ApplyOutcome> {
  const { deps, reads, asked } = using;
  const wrong = Object.entries(LENGTHS_MAX).flatMap(([field, max]) => textProblem(field, max, by));
  if (wrong.length > 0) return { outcome: 'invalid', problems: wrong };
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const context: EditContext = {
    ...personOf(by),
    nowMs: deps.clock.nowMs(),
    newId: () => deps.newId().toLowerCase(),
    ...(asked !== undefined && { asked }),
    ...(asked?.edits !== undefined && { writtenAtMs: asked.edits.atMs }),
  };
  const { policy, table, zone } = deps;
  const planOf = (read: ReadLimitSet): Plan => plan(edits, read, { policy, directory, context, zone });
  if (live?.pointer.set !== by.base) return stale(planOf, live, by, using, context.nowMs);

  const planned = planOf(await reads.base(by.base));
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };
  const { before, after, rows, lockout } = planned;
  if (rows.length === 0) return { outcome: 'unchanged', pointer: live?.pointer };
  if (asked?.edits !== undefined && asked.edits.fingerprint !== fingerprintOf(rows))
    return { outcome: 'stale', live, mine: rows };
  const forged = asked === undefined ? forgedNames(rows, by) : [];
  if (forged.length > 0) return { outcome: 'invalid', problems: forged };
  const rightsContext = { limits: before.limits, directory, nowMs: context.nowMs };
  const [denied, ...more] = asked === undefined ? deniedOf(rows, by, rightsContext) : [];
  if (denied !== undefined) return { outcome: 'forbidden', denied: [denied, ...more] };
  if (by.confirmed !== true && planned.toConfirm.length + lockout.length > 0)
    return { outcome: 'needs_confirmation', rows: planned.toConfirm, lockout };
  const between = { from: before.limits, to: after.limits, directory, nowMs: context.nowMs };
  const two = asked === undefined ? await toApprove(rows, between, deps) : [];
  if (two.length > 0) {
    const request =
      by.filing === 'never'
        ? undefined
        : await file(edits, by, { rows, toApprove: two, nowMs: context.nowMs }, using);
    const [first] = two;
    // Edits of several subjects need rights on all.
    const subject = request?.subject ?? first?.subject;
    const approvers = rolesFor('approve', subject, { ...rightsContext, unit: first?.unit });
    return { outcome: 'needs_approval', rows: two, by: approvers, ...(request !== undefined && { request }) };
  }

  const { why, source, base } = by;
  const change = {
    ...personOf(by),
    why,
    source,
    atMs: context.nowMs,
    ...(base !== undefined && { base }),
    ...(asked !== undefined && { request: asked.id }),
  };
  const published = await publishLimits(after.document, change, {
    table,
    policy,
    ...(directory !== undefined && { directory }),
    read: { from: before.limits, to: after.limits },
  });
  switch (published.outcome) {
    case 'live':
      return { outcome: 'live', pointer: published.pointer, rows };
    case 'invalid':
      return published;
    case 'stale':
      return stale(planOf, await reads.live(), by, using, context.nowMs);
  }
}

/** Any user may request a single grant; other edits are filed unchanged. */
function file(
  edits: readonly LimitEdit[],
  by: EditAuthor,
  found: ApprovalNeed,
  { deps, fileGrant }: ApplyContext,
): Promise<LimitRequest | undefined> {
  const [edit] = edits;
  return fileGrant !== undefined && edits.length === 1 && edit?.kind === 'grant'
    ? fileGrant(edit, personOf(by))
    : fileEdits(edits, by, found, deps);
}

/** Both versions, as far as they can still be read: what these edits would have done, and what others did. */
async function stale(
  planOf: (read: ReadLimitSet) => Plan,
  live: LiveLimits | undefined,
  { base }: EditAuthor,
  { reads }: ApplyContext,
  nowMs: number,
): Promise<ApplyOutcome> {
  const before = await reads.baseIfThere(base);
  const planned = before && planOf(before);
  if (before === undefined || !planned?.ok) return { outcome: 'stale', live };
  const mine = planned.rows;
  const directory = await reads.directory();
  return { outcome: 'stale', live, mine, theirs: visibleRows(mine, { before, live, directory, nowMs }) };
}

function textProblem(
  field: string,
  charactersMax: number,
  by: Readonly<Record<keyof typeof LENGTHS_MAX, string>>,
): readonly DocumentProblem[] {
  const text = by[field as keyof typeof LENGTHS_MAX];
  if (text.trim() !== '' && text.length <= charactersMax) return [];
  const stands = text.trim() === '' ? 'missing' : `${text.length} characters`;
  return [{ path: [field], message: `${stands}; expected a text of at most ${charactersMax} characters` }];
}

const WRITTEN_BY_DESK: readonly string[] = [
  ...['by', 'requested_by', 'approved_by', 'reviewed'],
  ...['by_user', 'requested_by_user', 'approved_by_user', 'reviewed_by_user'],
];
const OWN_USER: readonly string[] = ['by_user', 'reviewed_by_user'];

/** Only admins may import other names, to restore an export. */
function forgedNames(
  rows: readonly ChangeRow[],
  { actor, userId, rights }: EditAuthor,
): readonly DocumentProblem[] {
  if (rights.some(({ role }) => role === 'admin')) return [];
  return rows.flatMap(({ about, limit, subject, id, field, to, whole }): readonly DocumentProblem[] => {
    if (about === 'limit' || !WRITTEN_BY_DESK.includes(field) || whole === 'removed') return [];
    if (OWN_USER.includes(field) && userId !== undefined && to === userId) return [];
    const own = to === actor || (field === 'reviewed' && String(to).startsWith(`${actor}: `));
    if (own && field !== 'approved_by' && field !== 'requested_by') return [];
    const message = `'${to}' on ${id ?? limit}; the desk writes who did what: leave it as it was, or out`;
    return [{ path: [subject, field], message }];
  });
}

const personOf = ({ actor, userId }: Person): Person => ({
  actor,
  ...(userId !== undefined && { userId }),
});

const LINK_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;

/** Files a request that would be a valid grant as limits are now. */
export async function fileRequest(
  asked: GrantAsk,
  by: Asker,
  { deps, reads }: ApplyContext,
): Promise<RequestOutcome> {
  const { policy, table, clock, newId } = deps;
  const { actor, userId, rights } = by;
  const nowMs = clock.nowMs();
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const before = await reads.base(live?.pointer.set);
  const context = { limits: before.limits, directory, nowMs };
  if (!mayDo('ask', asked.subject, rights, context))
    return { outcome: 'forbidden', act: 'ask', needs: rolesFor('ask', asked.subject) };
  const { link, ...grant } = asked;
  if (
    actor.trim() === '' ||
    actor.length > ACTOR_CHARACTERS_MAX ||
    (link?.length ?? 0) > LINK_CHARACTERS_MAX
  ) {
    const path = [(link?.length ?? 0) > LINK_CHARACTERS_MAX ? 'link' : 'actor'];
    return { outcome: 'invalid', problems: [{ path, message: 'missing or too long' }] };
  }
  const planned = plan([{ kind: 'grant', ...grant }], before, {
    policy,
    directory,
    context: { actor, nowMs, newId: () => 'asked' },
  });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };

  const whose = await fullOf(by, table, nowMs);
  if (whose !== undefined)
    return { outcome: 'too_many', whose, max: whose === 'yours' ? PENDING_OF_ONE_MAX : PENDING_MAX };
  const request: LimitRequest = {
    ...asked,
    id: requestId(nowMs, newId()),
    state: 'pending',
    requestedBy: actor,
    ...(userId !== undefined && { requestedByUser: userId }),
    requestedAtMs: nowMs,
    granted: false,
    expiresAtMs: nowMs + KEPT_MS,
  };
  await writeRequest({ rev: 1, request }, table);
  return { outcome: 'filed', request };
}
