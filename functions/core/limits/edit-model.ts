/**
 * Edits of limits, and their changes. The schemas are also those of the API. Programs without an API import types only, and so do
 * not load zod.
 */
import {
  type LimitFieldName,
  type LimitFieldValues,
  limitFields,
} from '../../../policies/limits/limit-fields.ts';
import { LIMIT_KINDS, SCALED_KINDS } from '../../../policies/unit.ts';
import {
  amount,
  count,
  flag,
  instantMs,
  list,
  maybe,
  mode,
  oneOf,
  subject,
  text,
  unit,
  z,
} from '../schema.ts';

/* Edits. */

const short = () => z.string().max(500);
const day = z.string().max(40);
const written = z.union([z.string().max(60), z.number()]);
const id = z.string().min(1).max(100);

export const subjectAsked = z.string().max(255).openapi({
  example: 'group/101',
  description: '`instance`, `group/101`, `project/7`, `runner-class/large`',
});

const FIELD_SCHEMAS = {
  part: () => written,
  word: () => z.string().max(100),
  text: short,
  day: () => day,
  percents: () => z.array(z.union([z.number(), z.string().max(20)])).max(20),
};

type FieldShape = {
  readonly [Name in LimitFieldName]: z.ZodExactOptional<
    z.ZodType<Exclude<LimitFieldValues[Name], undefined>>
  >;
};

/** Adds a limit, or changes fields of one that is there. A field that is absent stays; `null` removes it. */
const set = z.strictObject({
  kind: z.literal('set'),
  subject: subjectAsked,
  /** Absent: made from unit and period, `money-month`. */
  limit: maybe(id),
  unit: maybe(z.enum(LIMIT_KINDS)),
  amount: maybe(written.openapi({ example: '500.00', description: 'In the unit; `unlimited`; 0 blocks.' })),
  ...(Object.fromEntries(
    limitFields.map(({ name, type, choices = [], help: description, example }) => {
      const schema: z.ZodType = type === 'choice' ? z.enum(choices as [string]) : FIELD_SCHEMAS[type]();
      const about = { description, ...(example !== undefined && { example }) };
      return [name, schema.nullable().openapi(about).optional()];
    }),
  ) as unknown as FieldShape),
});

const scale = z
  .strictObject({
    kind: z.literal('scale'),
    subject: subjectAsked,
    by: z.string().max(20).openapi({ example: '+8%', description: 'A share of each limit.' }),
    unit: maybe(z.enum(SCALED_KINDS), 'Absent: money.'),
    round: maybe(
      written.openapi({ example: '10', description: 'To the nearest multiple of this number of units.' }),
    ),
    below: maybe(z.boolean(), 'Including everything below. Absent: yes.'),
  })
  .openapi({ description: 'Changes all limits of a kind by a share; not unlimited ones, 0 and caps.' });

const grantShape = {
  subject: subjectAsked,
  limit: id,
  amount: written.openapi({ example: '+200' }),
  from: day,
  until: day,
  reason: short().min(1),
  ticket: maybe(short()),
};
const grant = z.strictObject({ kind: z.literal('grant'), ...grantShape });

/** No job of the subject starts; running jobs finish. */
const freeze = z.strictObject({
  kind: z.literal('freeze'),
  subject: subjectAsked,
  from: maybe(day),
  until: maybe(day),
  reason: z.string().min(1).max(200),
  owner: maybe(short()),
});

/** Lets jobs pass limits and freezes, never rules: those of named users, or of protected refs; with both, both must hold. */
const breakGlass = z.strictObject({
  kind: z.literal('breakglass'),
  subject: subjectAsked,
  users: maybe(z.array(z.number().int().positive()).max(100).readonly()),
  protected: maybe(z.literal(true)),
  jobs: z.number().int().positive(),
  per: maybe(z.enum(['hour', 'day', 'once'])),
  from: maybe(day),
  until: day,
  reason: short().min(1),
  ticket: maybe(short()),
});

const rollout = z.strictObject({
  kind: z.literal('rollout'),
  subject: subjectAsked,
  /** `null`: what stands above says. */
  cost: maybe(mode.nullable()),
  capacity: maybe(mode.nullable()),
});

/** Whole documents are imported as files: `POST /limits/import`. */
const EditSchema = z
  .discriminatedUnion('kind', [
    set,
    z.strictObject({ kind: z.literal('remove'), subject: subjectAsked, limit: id }),
    scale,
    grant,
    z.strictObject({ kind: z.literal('revoke'), grant: id }),
    freeze,
    z.strictObject({ kind: z.literal('unfreeze'), freeze: id }),
    breakGlass,
    z.strictObject({ kind: z.literal('end-breakglass'), breakglass: id }),
    z.strictObject({ kind: z.literal('review-breakglass'), breakglass: id, note: short() }),
    rollout,
    z
      .strictObject({ kind: z.literal('undo'), edit: z.number().int().positive() })
      .openapi({ description: 'Reverts the last edit, by its number. It must be the only edit.' }),
  ])
  .openapi('Edit');

export type SentEdit = z.infer<typeof EditSchema>;
export type SetLimit = z.infer<typeof set>;
export type LimitFields = Omit<SetLimit, 'kind' | 'subject' | 'limit'>;
export type ScaleLimits = z.infer<typeof scale>;
export type GiveGrant = z.infer<typeof grant>;

export type LimitEdit =
  | Exclude<SentEdit, { readonly kind: 'undo' | 'rollout' }>
  | (z.infer<typeof rollout> & {
      /** Time of the shadow report to the owner, Unix ms; `null`: send it again. */
      readonly reportedMs?: number | null;
    })
  /** An import: the complete new document. One missing right refuses all of it. */
  | { readonly kind: 'replace'; readonly document: unknown };

/** Per request: a page changes a few rows; larger changes are files. */
const EDITS_MAX = 200;

const edits = z.array(EditSchema).min(1).max(EDITS_MAX);
export const EditsSchema = z
  .strictObject({
    edits,
    why: short().min(1).openapi({ description: 'Shown in the log, and on the page of the limit.' }),
    confirmed: maybe(z.boolean(), 'Confirms the changes that need it.'),
  })
  .openapi('Edits');
export const PreviewInputSchema = z.strictObject({ edits }).openapi('PreviewAsked');

export const AskSchema = z.strictObject({ ...grantShape, link: maybe(short()) }).openapi('AskForMore');
export type GrantRequestInput = z.infer<typeof AskSchema>;

export const VerdictSchema = z
  .discriminatedUnion('decision', [
    z.strictObject({ decision: z.literal('approve'), note: maybe(short()) }),
    z.strictObject({ decision: z.literal('decline'), note: short().min(1) }),
  ])
  .openapi('RequestDecision');
export type RequestDecision = z.infer<typeof VerdictSchema>;

/* Changes and their log. */

const fieldValue = (description: string) =>
  z.union([z.number(), z.string(), z.null()]).openapi({ description });

export const ChangeRowSchema = z
  .object({
    about: z.enum(['limit', 'grant', 'freeze', 'breakglass', 'rollout', 'document']),
    subject: subject('`instance` for settings of the whole document.'),
    path: maybe(text('Full path of the group or project, or name of the class, if known.')),
    limit: text('Id of the limit, freeze or break-glass; the class of rules of a rollout.'),
    id: maybe(text('Id of the grant, if it has one.')),
    field: text('`amount`, `soft`, `mode` … as in limits.yaml.'),
    from: fieldValue('`null`: absent. Numbers are whole units of `unit`, everything else is text.'),
    to: fieldValue('Likewise.'),
    unit: maybe(unit),
    zone: maybe(text('IANA zone of the days of `from` and `until`. Absent: UTC.')),
    effect: z.enum(['tightens', 'loosens', 'neutral']),
    whole: maybe(oneOf(['added', 'removed'], 'The limit is new, or it goes.')),
  })
  .openapi('Change', {
    description: 'One changed field. A limit that is added or removed has one row for each field.',
  });
export type ChangeRow = Readonly<z.infer<typeof ChangeRowSchema>>;
export type FieldValue = ChangeRow['from'];
export type Effect = ChangeRow['effect'];

const LogEntrySchema = z
  .object({
    edit: count('1, 2, 3 …'),
    set: text('The set of limits it made live.'),
    atMs: instantMs(),
    actor: text('Name of the author.'),
    userId: maybe(count('GitLab’s id of the author.')),
    why: text(),
    source: text('`page`, `cli`, `ssm`, `file limits.csv`'),
    base: maybe(text('The set it was made on.')),
    count: count('Number of rows of the edit.'),
    rows: maybe(
      list(ChangeRowSchema),
      'Absent: too many to list here, or, with `count` 0, its base is gone.',
    ),
  })
  .openapi('HistoryEntry');
/** `rows` are limited to the requested subject. */
export type LogEntry = z.infer<typeof LogEntrySchema>;

export const HistoryPageSchema = z
  .object({
    entries: list(LogEntrySchema),
    next: maybe(count('There may be more: ask for those `before` it.')),
  })
  .openapi('History');
export type HistoryPage = z.infer<typeof HistoryPageSchema>;

export interface HistoryQuery {
  readonly subject?: string;
  /** Only edits before this one: `next` of the page before. */
  readonly before?: number;
  readonly max: number;
}

/** The children's limits add up to more than their parent's. Allowed: first come, first served. */
export const OversubscriptionSchema = z
  .object({
    subject: subject(),
    path: maybe(text()),
    limit: text('Its id.'),
    unit,
    amount: amount(),
    childrenAmount: amount('Sum of the closest limits below it, without `unlimited` ones.'),
    children: count(),
    unlimited: count('Part of `children`.'),
    larger: list(z.string(), 'Children that are larger than the limit, or unlimited; at most ten.'),
  })
  .openapi('Oversubscription', { description: 'A limit below the sum of its children: a pool.' });
export type Oversubscription = z.infer<typeof OversubscriptionSchema>;

export const BreakGlassStateSchema = z
  .object({
    id: text(),
    subject: subject('`instance`, a group (with all below it) or a project.'),
    path: maybe(text()),
    users: list(z.int(), 'GitLab’s ids of the users whose jobs it admits.'),
    userNames: maybe(z.record(z.string(), z.string()), 'By id, if known.'),
    protected: flag('It admits jobs of protected refs.'),
    jobs: count('Maximum of admitted jobs, per `per`.'),
    per: z.enum(['hour', 'day', 'once']),
    used: count('Jobs admitted in the current period (or ever).'),
    fromMs: instantMs(),
    untilMs: instantMs(),
    zone: maybe(text('IANA zone of its dates. Absent: UTC.')),
    reason: text(),
    ticket: maybe(text()),
    by: maybe(text('The user who opened it.')),
    open: z.boolean(),
    toReview: flag('It was not reviewed yet.'),
    reviewedBy: maybe(text()),
    note: maybe(text()),
  })
  .openapi('BreakGlassState');
export type BreakGlassState = z.infer<typeof BreakGlassStateSchema>;
