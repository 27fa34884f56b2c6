/** Edits as they come over the wire. Their meaning is checked by the desk; here their shape. */
import { z } from '@hono/zod-openapi';
import {
  type LimitFieldName,
  type LimitFieldValues,
  limitFields,
} from '../../../policies/limits/limit-fields.ts';
import { MODES } from '../../../policies/mode.ts';
import { LIMIT_KINDS } from '../../../policies/units/unit.ts';
import { type LimitEdit, SCALED_KINDS } from '../../core/limits/index.ts';

const TEXT_MAX = 500;
const text = () => z.string().max(TEXT_MAX);
const amount = z.union([z.string().max(60), z.number()]);
const subject = z.string().max(255).openapi({
  example: 'group/101',
  description: '`instance`, `group/101`, `project/7`, `runner-class/large`',
});
const mode = z.enum(MODES as ['off', 'shadow', 'warn', 'enforce']);
const id = z.string().min(1).max(100);

const FIELD_SCHEMAS = {
  part: () => amount,
  word: () => z.string().max(100),
  text,
  day: () => z.string().max(40),
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
    by: z.string().max(20).openapi({ example: '+8%', description: 'A share of what each limit has.' }),
    unit: z.enum(SCALED_KINDS).optional().openapi({ description: 'Absent: money.' }),
    round: amount
      .optional()
      .openapi({ example: '10', description: 'To the nearest multiple of so many units.' }),
    below: z.boolean().optional().openapi({ description: 'With everything below. Absent: yes.' }),
  })
  .openapi({
    description: 'All limits of a kind in a place, a share more or less; not unlimited ones, 0 and caps.',
  });

const grantShape = {
  subject,
  limit: id,
  amount: amount.openapi({ example: '+200' }),
  from: z.string().max(40),
  until: z.string().max(40),
  reason: text().min(1),
  ticket: text().optional(),
};
const freezeShape = {
  subject,
  from: z.string().max(40).optional(),
  until: z.string().max(40).optional(),
  reason: z.string().min(1).max(200),
  owner: text().optional(),
};
const glassShape = {
  subject,
  users: z.array(z.number().int().positive()).max(100).optional(),
  protected: z.literal(true).optional(),
  jobs: z.number().int().positive(),
  per: z.enum(['hour', 'day', 'once']).optional(),
  from: z.string().max(40).optional(),
  until: z.string().max(40),
  reason: text().min(1),
  ticket: text().optional(),
};

/** An import in one piece is for files: `POST /limits/import`. */
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
      .openapi({ description: 'Takes the last edit back, whose number this is. Stands alone.' }),
  ])
  .openapi('Edit');

/** Per request: a page changes a few rows; more than that is a file. */
const EDITS_MAX = 200;

const said = {
  why: text().min(1).openapi({ description: 'Stands in the log, and on the page of the limit.' }),
  confirmed: z.boolean().optional().openapi({ description: 'You have seen what had to be confirmed.' }),
};

export const EditsSchema = z
  .strictObject({ edits: z.array(EditSchema).min(1).max(EDITS_MAX), ...said })
  .openapi('Edits');
export const PreviewAskedSchema = z
  .strictObject({ edits: z.array(EditSchema).min(1).max(EDITS_MAX) })
  .openapi('PreviewAsked');
export const GrantSchema = z.strictObject({ ...grantShape, confirmed: said.confirmed }).openapi('Grant');
export const FreezeSchema = z.strictObject({ ...freezeShape, confirmed: said.confirmed }).openapi('Freeze');
export const GlassSchema = z.strictObject({ ...glassShape, confirmed: said.confirmed }).openapi('BreakGlass');
export const WhySchema = z.strictObject(said).openapi('Why');
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
/** The last edit is taken back by one that puts the document before it in place. */
export type UndoShape = Extract<EditShape, { kind: 'undo' }>;

/** JSON knows no undefined: what zod calls `undefined` is not there. */
export function editOf(edit: Exclude<EditShape, UndoShape>): LimitEdit {
  if (edit.kind !== 'rollout') return edit as LimitEdit;
  const { group, subject = `group/${group}`, ...modes } = edit;
  return { ...modes, subject } as LimitEdit;
}
