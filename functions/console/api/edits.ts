import {
  type LimitFieldName,
  type LimitFieldValues,
  limitFields,
} from '../../../policies/limits/limit-fields.ts';
import { MODES } from '../../../policies/mode.ts';
import { LIMIT_KINDS } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { roleName } from '../../answers/groups/me.ts';
import { ChangeRowSchema, LimitRequestSchema } from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import { text as answerText, count, instantMs, list, maybe, orNone } from '../../answers/reading/schema.ts';
import type { LimitsDesk } from '../../core/limits/create-limits-desk.ts';
import {
  type ApplyOutcome,
  type EditAuthor,
  type LimitEdit,
  type LiveLimits,
  type RoleName,
  SCALED_KINDS,
} from '../../core/limits/edit-model.ts';
import type { ChangeRow } from '../../core/limits/limit-changes.ts';
import { NO_SET } from '../../core/limits/limit-reads.ts';
import { ACT_WORDS, whoMayText } from '../../core/limits/rights.ts';
import type { User } from '../../core/signin/model.ts';
import { lastEdit } from '../last-edit.ts';
import {
  type ApiContext,
  type ApiError,
  apiError,
  NO_BASE,
  NOT_THERE,
  subject,
  withProblems,
  z,
} from './api-parts.ts';

const TEXT_MAX = 500;
const text = () => z.string().max(TEXT_MAX);
const day = z.string().max(40);
const amount = z.union([z.string().max(60), z.number()]);
const mode = z.enum(MODES as ['off', 'shadow', 'warn', 'enforce']);
const id = z.string().min(1).max(100);

const FIELD_SCHEMAS = {
  part: () => amount,
  word: () => z.string().max(100),
  text,
  day: () => day,
  percents: () => z.array(z.union([z.number(), z.string().max(20)])).max(20),
};

type FieldShape = {
  readonly [Name in LimitFieldName]: z.ZodOptional<z.ZodType<Exclude<LimitFieldValues[Name], undefined>>>;
};

const fields = {
  unit: z.enum(LIMIT_KINDS).optional(),
  amount: amount
    .openapi({ example: '500.00', description: 'In the unit; `unlimited`; 0 blocks.' })
    .optional(),
  ...(Object.fromEntries(
    limitFields.map(({ name, type, choices = [], help: description, example }) => {
      const schema: z.ZodType = type === 'choice' ? z.enum(choices as [string]) : FIELD_SCHEMAS[type]();
      const about = { description, ...(example !== undefined && { example }) };
      return [name, schema.nullable().openapi(about).optional()];
    }),
  ) as unknown as FieldShape),
};

const set = z.strictObject({
  kind: z.literal('set'),
  subject,
  limit: id.optional(),
  ...fields,
});
const remove = z.strictObject({ kind: z.literal('remove'), subject, limit: id });

const scale = z
  .strictObject({
    kind: z.literal('scale'),
    subject,
    by: z.string().max(20).openapi({ example: '+8%', description: 'A share of each limit.' }),
    unit: z.enum(SCALED_KINDS).optional().openapi({ description: 'Absent: money.' }),
    round: amount
      .optional()
      .openapi({ example: '10', description: 'To the nearest multiple of this number of units.' }),
    below: z.boolean().optional().openapi({ description: 'Including everything below. Absent: yes.' }),
  })
  .openapi({
    description: 'Changes all limits of a kind by a share; not unlimited ones, 0 and caps.',
  });

const grantShape = {
  subject,
  limit: id,
  amount: amount.openapi({ example: '+200' }),
  from: day,
  until: day,
  reason: text().min(1),
  ticket: text().optional(),
};
const freezeShape = {
  subject,
  from: day.optional(),
  until: day.optional(),
  reason: z.string().min(1).max(200),
  owner: text().optional(),
};
const glassShape = {
  subject,
  users: z.array(z.number().int().positive()).max(100).optional(),
  protected: z.literal(true).optional(),
  jobs: z.number().int().positive(),
  per: z.enum(['hour', 'day', 'once']).optional(),
  from: day.optional(),
  until: day,
  reason: text().min(1),
  ticket: text().optional(),
};

/** Whole documents are imported as files: `POST /limits/import`. */
const EditSchema = z
  .discriminatedUnion('kind', [
    set,
    remove,
    scale,
    z.strictObject({ kind: z.literal('grant'), ...grantShape }),
    z.strictObject({ kind: z.literal('revoke'), grant: id }),
    z.strictObject({ kind: z.literal('freeze'), ...freezeShape }),
    z.strictObject({ kind: z.literal('unfreeze'), freeze: id }),
    z.strictObject({ kind: z.literal('breakglass'), ...glassShape }),
    z.strictObject({ kind: z.literal('end-breakglass'), breakglass: id }),
    z.strictObject({ kind: z.literal('review-breakglass'), breakglass: id, note: text() }),
    z.strictObject({
      kind: z.literal('rollout'),
      group: z.number().int().positive().optional().openapi({ description: 'Or `subject`.' }),
      subject: subject.optional(),
      cost: mode.nullable().optional(),
      capacity: mode.nullable().optional(),
    }),
    z
      .strictObject({ kind: z.literal('undo'), edit: z.number().int().positive() })
      .openapi({ description: 'Reverts the last edit, by its number. It must be the only edit.' }),
  ])
  .openapi('Edit');

/** Per request: a page changes a few rows; larger changes are files. */
const EDITS_MAX = 200;

const reasons = {
  why: text().min(1).openapi({ description: 'Shown in the log, and on the page of the limit.' }),
  confirmed: z.boolean().optional().openapi({ description: 'Confirms the changes that need it.' }),
};

const edits = z.array(EditSchema).min(1).max(EDITS_MAX);
const { confirmed } = reasons;
export const EditsSchema = z.strictObject({ edits, ...reasons }).openapi('Edits');
export const PreviewAskedSchema = z.strictObject({ edits }).openapi('PreviewAsked');
export const GrantSchema = z.strictObject({ ...grantShape, confirmed }).openapi('Grant');
export const FreezeSchema = z.strictObject({ ...freezeShape, confirmed }).openapi('Freeze');
export const GlassSchema = z.strictObject({ ...glassShape, confirmed }).openapi('BreakGlass');
export const WhySchema = z.strictObject(reasons).openapi('Why');
export const ReviewSchema = z.strictObject({ note: text().min(1) }).openapi('Review');
export const AskSchema = z.strictObject({ ...grantShape, link: text().optional() }).openapi('AskForMore');
export const VerdictSchema = z
  .discriminatedUnion('verdict', [
    z.strictObject({ verdict: z.literal('approve'), note: text().optional() }),
    z.strictObject({ verdict: z.literal('decline'), note: text().min(1) }),
  ])
  .openapi('Verdict');

type EditShape = z.infer<typeof EditSchema>;
export type EditsShape = readonly EditShape[];
type UndoShape = Extract<EditShape, { kind: 'undo' }>;

/** JSON has no `undefined`, so absent fields are really absent. */
function editOf(edit: Exclude<EditShape, UndoShape>): LimitEdit {
  if (edit.kind !== 'rollout') return edit as LimitEdit;
  const { group, subject = `group/${group}`, ...modes } = edit;
  return { ...modes, subject } as LimitEdit;
}

const IF_MATCH = /^"([^"]{1,80})"$/;

export function baseOf(header: string | undefined): { readonly base: string | undefined } | 'missing' {
  const set = IF_MATCH.exec(header ?? '')?.[1];
  if (set === undefined) return 'missing';
  return { base: set === NO_SET ? undefined : set };
}

export const etagOf = (set: string | undefined): string => `"${set ?? NO_SET}"`;

export interface EditReason {
  readonly why: string;
  readonly confirmed?: boolean | undefined;
}

export const editedBy = (
  user: User,
  base: string | undefined,
  { why, confirmed }: EditReason,
  source = 'api',
): EditAuthor => ({
  ...{ ...actingUser(user), why, source, base },
  ...(confirmed === true && { confirmed }),
});

type Refused = ReturnType<typeof refused>;
const refused = (status: 412 | 422 | 428, body: ApiError) => ({ ok: false, status, body }) as const;

/** Converts edits of a request to those of limit editing, with their base. @param header - `If-Match` */
export async function meantEdits(
  sent: EditsShape,
  header: string | undefined,
  desk: Pick<LimitsDesk, 'live' | 'at'>,
): Promise<
  Refused | { readonly ok: true; readonly edits: readonly LimitEdit[]; readonly base: string | undefined }
> {
  const given = baseOf(header);
  if (given === 'missing') return refused(428, NO_BASE);
  const { base } = given;
  const stale = (live: LiveLimits | undefined): Refused =>
    refused(412, outcomeAnswer({ outcome: 'stale', live }, () => true).body as ApiError);
  const isUndo = (edit: EditsShape[number]): edit is UndoShape => edit.kind === 'undo';
  const undo = sent.find(isUndo);
  if (undo === undefined) {
    const live = await desk.live();
    const isKept = live?.pointer.set === base || (await desk.at(base)) !== undefined;
    if (!isKept) return stale(live);
    return { ok: true, edits: sent.filter((edit) => !isUndo(edit)).map(editOf), base };
  }
  if (sent.length > 1) return invalidUndo('is made together with other edits; expected it alone');
  const last = await lastEdit(undo.edit, desk);
  if (last.outcome === 'nothing_live') return invalidUndo('nothing was edited yet');
  if (last.outcome === 'not_last') return stale(last.live);
  if (last.outcome === 'gone')
    return invalidUndo('the version before it is gone: replaced sets are kept for 90 days');
  return last.base === base ? { ok: true, edits: last.edits, base } : stale(await desk.live());
}

const invalidUndo = (message: string): Refused =>
  refused(422, withProblems(INVALID, [{ path: ['edits', 0, 'edit'], message }]));

export const AppliedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: orNone(answerText('The live set: `If-Match` of the next edit.')),
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
    who: answerText('The same in words: `of finance or an administrator`.'),
    request: LimitRequestSchema,
  })
  .openapi('Filed');

type OutcomeAnswer = ReturnType<typeof outcomeAnswer>;

const refusal = <const Status extends 403 | 404 | 409 | 412 | 422 | 428>(status: Status, body: ApiError) => ({
  status,
  body,
});

/** Converts the outcome of an edit to a response. @param sees - hides rows of other subjects */
export function outcomeAnswer(outcome: ApplyOutcome, sees: (subject: string) => boolean) {
  const visible = (rows: readonly ChangeRow[] | undefined): ChangeRow[] | undefined =>
    rows?.filter(({ subject }) => sees(subject));
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
    case 'stale': {
      const { pointer, change } = outcome.live ?? {};
      const { set = '', edit = 0 } = pointer ?? {};
      const live = change && {
        ...{ set, edit, atMs: change.atMs, actor: change.actor, why: change.why, source: change.source },
        ...withoutAbsent({ base: change.base }),
      };
      const [mine, theirs] = [visible(outcome.mine), visible(outcome.theirs)];
      return refusal(412, { ...STALE, ...withoutAbsent({ live, mine, theirs }) });
    }
    case 'forbidden': {
      if (outcome.denied.some(({ row }) => !sees(row.subject))) return refusal(404, NOT_THERE);
      const denied = outcome.denied.map((denial) => ({
        ...denial,
        sentence: `to ${ACT_WORDS[denial.act]} you must be ${whoMayText(denial.act, denial.needs)}`,
      }));
      const who = outcome.denied.map(({ act, needs }) => whoMayText(act, needs));
      return refusal(403, { ...forbidden([...new Set(who)]), denied });
    }
    case 'needs_confirmation':
      return refusal(428, { ...UNCONFIRMED, rows: [...outcome.rows], lockout: [...outcome.lockout] });
    case 'needs_approval': {
      const { rows, by, request } = outcome;
      if (request === undefined) return refusal(409, { ...needsApproval(by), rows: [...rows] });
      const who = whoMayText('approve', by);
      return { status: 202, body: { outcome: 'needs_approval', rows, by, who, request } } as const;
    }
  }
}

export function respond(c: ApiContext, answer: OutcomeAnswer) {
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
  'Others changed the limits meanwhile, so nothing was changed.',
  'Look at what they did, and send your edits again with the live set as `If-Match`.',
);
const UNCONFIRMED = apiError(
  'needs_confirmation',
  'This changes an amount by more than a factor of three, makes a mode milder, lets rules skip a step of their rollout, or would stop jobs of the platform itself.',
  'Look at the rows, and send it again with `"confirmed": true`.',
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
    'Somebody else has to approve this; nothing was changed.',
    `Too many requests are waiting already: once some are decided, send it again, to be approved by somebody who is ${whoMayText('approve', by)}.`,
  );
