/** Converts the result of an edit to a response. */

import { roleName } from '../../answers/groups/me.ts';
import { ChangeRowSchema, LimitRequestSchema } from '../../answers/limits/edit-models.ts';
import { count, instantMs, list, maybe, orNone, text, z } from '../../answers/reading/schema.ts';
import {
  ACT_WORDS,
  type ApplyOutcome,
  type ChangeRow,
  type LimitRequest,
  type RoleName,
  whoMayText,
} from '../../core/limits/index.ts';
import { type ApiError, apiError, NOT_THERE } from './api-error.ts';

export const AppliedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: orNone(text('What is live now; the next edit’s `If-Match`.')),
    edit: maybe(count('The number of the edit that made it so.')),
    atMs: maybe(instantMs('When that was, Unix ms.')),
    rows: list(ChangeRowSchema),
  })
  .openapi('Applied');

export const FiledSchema = z
  .object({
    outcome: z.literal('needs_approval'),
    rows: list(ChangeRowSchema),
    by: list(roleName).openapi({ description: 'Who may approve it.' }),
    who: text('The same in words: `of finance or an administrator`.'),
    request: LimitRequestSchema,
  })
  .openapi('Filed');

type AppliedAnswer = z.infer<typeof AppliedSchema>;
/** The request as the desk has it. */
type FiledAnswer = Omit<z.infer<typeof FiledSchema>, 'request'> & { readonly request: LimitRequest };

export type OutcomeAnswer =
  | { readonly status: 200; readonly body: AppliedAnswer }
  | { readonly status: 202; readonly body: FiledAnswer }
  | { readonly status: 403 | 404 | 409 | 412 | 422 | 428; readonly body: ApiError };

/** @param sees - subjects the user may know of; what is not theirs is as if it were not there. */
export function outcomeAnswer(outcome: ApplyOutcome, sees: (subject: string) => boolean): OutcomeAnswer {
  const theirs = (rows: readonly ChangeRow[] | undefined): ChangeRow[] | undefined =>
    rows?.filter(({ subject }) => sees(subject));
  switch (outcome.outcome) {
    case 'live': {
      const { pointer, rows } = outcome;
      return { status: 200, body: { outcome: 'live', ...pointer, rows } };
    }
    case 'unchanged':
      return { status: 200, body: { outcome: 'unchanged', set: undefined, ...outcome.pointer, rows: [] } };
    case 'invalid':
      return {
        status: 422,
        body: withProblems(INVALID, outcome.problems),
      };
    case 'stale': {
      const { live, mine, theirs: others } = outcome;
      return {
        status: 412,
        body: {
          ...STALE,
          ...(live !== undefined && {
            live: {
              set: live.pointer.set,
              edit: live.pointer.edit,
              atMs: live.change.atMs,
              actor: live.change.actor,
              why: live.change.why,
              source: live.change.source,
              ...(live.change.base !== undefined && { base: live.change.base }),
            },
          }),
          ...(mine !== undefined && { mine: theirs(mine) }),
          ...(others !== undefined && { theirs: theirs(others) }),
        },
      };
    }
    case 'forbidden': {
      if (outcome.denied.some(({ row }) => !sees(row.subject))) return { status: 404, body: NOT_THERE };
      const denied = outcome.denied.map((denial) => ({
        ...denial,
        sentence: `to ${ACT_WORDS[denial.act]} you must be ${whoMayText(denial.act, denial.needs)}`,
      }));
      const who = outcome.denied.map(({ act, needs }) => whoMayText(act, needs));
      return { status: 403, body: { ...forbidden([...new Set(who)]), denied } };
    }
    case 'needs_confirmation':
      return {
        status: 428,
        body: { ...UNCONFIRMED, rows: [...outcome.rows], lockout: [...outcome.lockout] },
      };
    case 'needs_approval': {
      const { rows, by, request } = outcome;
      if (request !== undefined)
        return {
          status: 202,
          body: { outcome: 'needs_approval', rows, by, who: whoMayText('approve', by), request },
        };
      return { status: 409, body: { ...needsApproval(by), rows: [...rows] } };
    }
  }
}

export const INVALID = apiError(
  'invalid',
  'This cannot be done: see the problems.',
  'Correct them and send it again; nothing was changed.',
);

/** An error that says what is wrong where. */
export const withProblems = (
  error: ApiError,
  problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
): ApiError => ({
  ...error,
  problems: problems.map(({ path, message }) => ({ path: [...path], message })),
});

const STALE = apiError(
  'stale',
  'Others changed the limits meanwhile, so nothing was changed.',
  'Look at what they did, and send your edits again with the live set as `If-Match`.',
);
const UNCONFIRMED = apiError(
  'needs_confirmation',
  'This changes an amount by more than a factor of three, makes a mode milder, lets rules skip a step of their rollout, or would stop jobs of the platform itself.',
  'Look at the rows, and send it again with `"confirmed": true`.',
);

/** @param needs - what one must be: `of finance or an administrator`; several where differences ask for several. */
export const forbidden = (needs: readonly string[]): ApiError =>
  apiError(
    'forbidden',
    'You may not do this; nothing was changed.',
    `Ask somebody who is ${needs.join('; and somebody who is ')}.`,
  );

const needsApproval = (by: readonly RoleName[]): ApiError =>
  apiError(
    'needs_approval',
    'Somebody else has to approve this; nothing was changed.',
    `Too many requests are waiting already: once some are decided, send it again, to be approved by somebody who is ${whoMayText('approve', by)}.`,
  );
