import { withoutAbsent } from '../../../policies/without-absent.ts';
import { roleName } from '../../answers/groups/me.ts';
import type { LimitEdits } from '../../core/limits/create-limit-edits.ts';
import {
  type ChangeRow,
  ChangeRowSchema,
  type LimitEdit,
  type SentEdit,
} from '../../core/limits/edit-model.ts';
import {
  type ApplyOutcome,
  type DecideOutcome,
  LimitRequestSchema,
  type LiveLimits,
  type RequestOutcome,
  type RoleName,
} from '../../core/limits/edit-outcomes.ts';
import { lastEdit } from '../../core/limits/limit-reads.ts';
import { actText, rolesText } from '../../core/limits/rights.ts';
import { NO_SET } from '../../core/limits/subject-text.ts';
import { count, instantMs, list, maybe, orNone, text, z } from '../../core/schema.ts';
import { type ApiContext, type ApiError, apiError, NO_BASE, NOT_THERE, withProblems } from './api-parts.ts';

/** Statuses of routes that change limits, besides success. */
export const CHANGES = [403, 404, 409, 412, 422, 428] as const;

const IF_MATCH = /^"([^"]{1,80})"$/;

export function baseOf(header: string | undefined): { readonly base: string | undefined } | 'missing' {
  const set = IF_MATCH.exec(header ?? '')?.[1];
  if (set === undefined) return 'missing';
  return { base: set === NO_SET ? undefined : set };
}

const refusal = <const Status extends 403 | 404 | 409 | 412 | 422 | 428>(status: Status, body: ApiError) => ({
  status,
  body,
});

/** Converts edits of a request to those of limit editing, with their base. @param header - `If-Match` */
export async function readEdits(
  sent: readonly SentEdit[],
  header: string | undefined,
  limitEdits: Pick<LimitEdits, 'live' | 'at'>,
): Promise<
  | { readonly edits: readonly LimitEdit[]; readonly base: string | undefined }
  | ReturnType<typeof refusal<412 | 422 | 428>>
> {
  const given = baseOf(header);
  if (given === 'missing') return refusal(428, NO_BASE);
  const { base } = given;
  const stale = (live: LiveLimits | undefined) =>
    refusal(
      412,
      staleError({ live }, () => true),
    );
  const undo = sent.find((edit) => edit.kind === 'undo');
  if (undo === undefined) {
    const live = await limitEdits.live();
    const isReadable = live?.pointer.set === base || (await limitEdits.at(base)) !== undefined;
    if (!isReadable) return stale(live);
    return { edits: sent.filter((edit) => edit.kind !== 'undo'), base };
  }
  if (sent.length > 1) return invalidUndo('is made together with other edits; expected it alone');
  const last = await lastEdit(undo.edit, limitEdits);
  if (last.outcome === 'nothing_live') return invalidUndo('nothing was edited yet');
  if (last.outcome === 'not_last') return stale(last.live);
  if (last.outcome === 'gone')
    return invalidUndo('the version before it is gone: replaced sets are kept for 90 days');
  return last.base === base ? { edits: last.edits, base } : stale(await limitEdits.live());
}

const invalidUndo = (message: string) =>
  refusal(422, withProblems(INVALID, [{ path: ['edits', 0, 'edit'], message }]));

export const AppliedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: orNone(text('The live set: `If-Match` of the next edit.')),
    edit: maybe(count('The edit that made it live.')),
    atMs: maybe(instantMs('When it became live, Unix ms.')),
    rows: list(ChangeRowSchema),
  })
  .openapi('Applied');

export const FiledSchema = z
  .object({
    outcome: z.literal('needs_approval'),
    rows: list(ChangeRowSchema),
    by: list(roleName, 'Roles that may approve it.'),
    who: text('The same in words: `of finance or an administrator`.'),
    request: LimitRequestSchema,
  })
  .openapi('Filed');

type Sees = (subject: string) => boolean;
type Stale = Extract<ApplyOutcome, { outcome: 'stale' }>;

export function visibleRows({ mine, theirs, ...stale }: Omit<Stale, 'outcome'>, sees: Sees) {
  const visible = (rows: readonly ChangeRow[] | undefined) => rows?.filter(({ subject }) => sees(subject));
  return { ...stale, ...withoutAbsent({ mine: visible(mine), theirs: visible(theirs) }) };
}

export function staleError(stale: Omit<Stale, 'outcome'>, sees: Sees): ApiError {
  const { live, mine, theirs } = visibleRows(stale, sees);
  return { ...STALE, ...withoutAbsent({ live: live && liveSetOf(live), mine, theirs }) };
}

export function liveSetOf({ pointer, change }: LiveLimits) {
  const { actor, why, source, base } = change;
  return { ...pointer, actor, why, source, ...withoutAbsent({ base }) };
}

export function editResponse(outcome: ApplyOutcome, sees: Sees) {
  switch (outcome.outcome) {
    case 'live':
      return { status: 200, body: { outcome: 'live', ...outcome.pointer, rows: outcome.rows } } as const;
    case 'unchanged':
      return {
        status: 200,
        body: { outcome: 'unchanged', set: undefined, ...outcome.pointer, rows: [] },
      } as const;
    case 'invalid':
      return refusal(422, withProblems(INVALID, outcome.problems));
    case 'stale':
      return refusal(412, staleError(outcome, sees));
    case 'forbidden': {
      if (outcome.denied.some(({ row }) => !sees(row.subject))) return refusal(404, NOT_THERE);
      const denied = outcome.denied.map((denial) => ({
        ...denial,
        sentence: `to ${actText(denial.act)} you must be ${rolesText(denial.act, denial.needs)}`,
      }));
      const who = outcome.denied.map(({ act, needs }) => rolesText(act, needs));
      return refusal(403, { ...forbidden([...new Set(who)]), denied });
    }
    case 'needs_confirmation':
      return refusal(428, { ...UNCONFIRMED, rows: [...outcome.rows], lockout: [...outcome.lockout] });
    case 'needs_approval': {
      const { rows, by, request } = outcome;
      if (request === undefined) return refusal(409, { ...needsApproval(by), rows: [...rows] });
      const who = rolesText('approve', by);
      return { status: 202, body: { outcome: 'needs_approval', rows, by, who, request } } as const;
    }
  }
}

export function respond(c: ApiContext, answer: ReturnType<typeof editResponse>) {
  if (answer.status === 200) return c.json(answer.body, 200);
  return answer.status === 202 ? c.json(answer.body, 202) : c.json(answer.body, answer.status);
}

const INVALID = apiError(
  'invalid',
  'This cannot be done: see the problems.',
  'Correct them and send it again; nothing was changed.',
);
const STALE = apiError(
  'stale',
  'Other users changed the limits since, so nothing was changed.',
  'Check their changes, and send your edits again with the live set as `If-Match`.',
);
const UNCONFIRMED = apiError(
  'needs_confirmation',
  'This changes an amount by more than a factor of three, makes a mode milder, lets rules skip a step of their rollout, or would stop jobs of the platform itself.',
  'Check the rows, and send it again with `"confirmed": true`.',
);

/** @param needs - `of finance or an administrator`; several if changes need different roles */
export const forbidden = (needs: readonly string[]): ApiError =>
  apiError(
    'forbidden',
    'You may not do this; nothing was changed.',
    `Ask a user who is ${needs.join('; and a user who is ')}.`,
  );

const needsApproval = (by: readonly RoleName[]): ApiError =>
  apiError(
    'needs_approval',
    'Another user must approve this; nothing was changed.',
    `Too many requests are waiting. Send it again when some are decided; a user who is ${rolesText('approve', by)} can approve it.`,
  );

export function notFiled(outcome: Exclude<RequestOutcome, { outcome: 'filed' }>) {
  switch (outcome.outcome) {
    case 'invalid':
      return refusal(422, withProblems(INVALID, outcome.problems));
    case 'forbidden':
      return refusal(403, forbidden([rolesText(outcome.act, outcome.needs)]));
    case 'too_many': {
      const whose = outcome.whose === 'yours' ? 'of yours ' : '';
      const message = `${outcome.max} requests ${whose}are waiting already.`;
      return refusal(409, apiError('too_many', message, 'Wait until some are decided.'));
    }
  }
}

export function notDecided(outcome: Exclude<DecideOutcome, { outcome: 'approved' | 'declined' }>) {
  switch (outcome.outcome) {
    case 'unknown':
      return refusal(404, NOT_THERE);
    case 'decided': {
      const { decidedBy = 'Another user', state } = outcome.request;
      const message = `${decidedBy} has ${state} it already.`;
      return refusal(409, apiError('decided', message, 'Nothing is left to do.'));
    }
    case 'forbidden': {
      const { own, act, needs } = outcome;
      return refusal(403, own === true ? OWN : forbidden([rolesText(act, needs)]));
    }
    case 'invalid': {
      const problems = outcome.problems.map(({ message }) => message).join('; ');
      const message = `The request no longer fits: ${problems}.`;
      const error = apiError('invalid', message, 'Decline it, or correct the limits first.');
      return refusal(422, withProblems(error, outcome.problems));
    }
    case 'stale':
      return refusal(409, REQUEST_STALE);
    case 'busy':
      return refusal(409, BUSY);
  }
}

const OWN = apiError(
  'own',
  'This is a request of your own; another user must decide.',
  'Ask another user to decide it.',
);
const REQUEST_STALE = apiError(
  'stale',
  'The limits of this request were changed since.',
  'Decline it, and file a new request.',
);
const BUSY = apiError('busy', 'Others edit the limits at the same time.', 'Decide again.');
