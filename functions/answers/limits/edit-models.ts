/** Edits of limits: log, preview, backtest, import, requests, exceptions. Types of limit editing are checked against the schemas. */

import { CSV_COLUMNS, type UnderstoodCell } from '../../core/limits/csv/columns.ts';
import type { WrittenTotal } from '../../core/limits/csv/totals.ts';
import type {
  BreakGlassState,
  HistoryPage,
  LimitRequest,
  LogEntry,
  Oversubscription,
} from '../../core/limits/edit-model.ts';
import type { ChangeRow } from '../../core/limits/limit-changes.ts';
import {
  amount,
  count,
  day,
  flag,
  instantMs,
  limitKind,
  list,
  maybe,
  oneOf,
  orNone,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';
import { type LimitRow, LimitRowSchema } from '../status/model.ts';

export type { ChangeRow, LimitRequest, LogEntry, Oversubscription, WrittenTotal };

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
  }) satisfies z.ZodType<ChangeRow>;

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
  .openapi('HistoryEntry') satisfies z.ZodType<LogEntry>;

export const HistoryPageSchema = z
  .object({
    entries: list(LogEntrySchema),
    next: maybe(count('There may be more: ask for those `before` it.')),
  })
  .openapi('History') satisfies z.ZodType<HistoryPage>;

const set = orNone(text('The live set; absent: none was ever live.'));

const InvalidEditsSchema = z
  .object({
    outcome: z.literal('invalid'),
    problems: list(
      z.object({
        path: list(z.union([z.string(), z.number()]), 'Place in the request.'),
        message: text('The problem, and the expected value.'),
        atKey: maybe(flag('The key is wrong, not its value.')),
      }),
    ),
    set,
  })
  .openapi('InvalidEdits');

const OversubscriptionSchema = z
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
  .openapi('Oversubscription', {
    description: 'A limit below the sum of its children: a pool.',
  }) satisfies z.ZodType<Oversubscription>;

const EditEffectSchema = z
  .object({
    subject: subject(),
    path: text(),
    limit: text('Its id.'),
    before: maybe(LimitRowSchema, 'Absent: it is new.'),
    after: maybe(LimitRowSchema, 'Absent: it is removed. Its numbers are those of today’s counter.'),
  })
  .openapi('EditEffect');

export type EditEffect = z.infer<typeof EditEffectSchema>;

const ValidEditsSchema = z
  .object({
    outcome: z.literal('valid'),
    set,
    stale: flag('The edits’ base is not live (any more): making them live would be refused.'),
    rows: list(ChangeRowSchema),
    theirs: maybe(list(ChangeRowSchema), 'Only if `stale`: changes by others since, of the same subjects.'),
    oversubscription: list(OversubscriptionSchema, 'Of the changed limits and their parents.'),
    needsConfirmation: list(
      ChangeRowSchema,
      'Amounts that become more than three times as large, or less than a third, and milder modes.',
    ),
    needsApproval: list(ChangeRowSchema, 'Changes that another person must approve.'),
    lockout: list(z.string(), 'Jobs of the platform itself that would be rejected, to be confirmed.'),
    effects: list(EditEffectSchema, 'One per limit whose amount changes; at most 20.'),
  })
  .openapi('ValidEdits');

export const PreviewSchema = z
  .discriminatedUnion('outcome', [InvalidEditsSchema, ValidEditsSchema])
  .openapi('Preview');

export type PreviewAnswer =
  | z.infer<typeof PreviewSchema>
  /** The subject does not exist, or is not visible. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string };

const JobsCountedSchema = z.object({
  jobs: count(),
  wouldFail: count('Under the edited limits.'),
  wouldFailNow: count('Under the limits as they are.'),
  wouldWait: maybe(count('Jobs that get room within the `wait` of an edited limit, and run. Absent: none.')),
  failed: count('Really rejected.'),
  unasked: count('Without an admission request: they use limits, and are not in `jobs`.'),
});

export type BacktestCounts = z.infer<typeof JobsCountedSchema>;

export const countedSpan = {
  days: count('Days to count, including today.'),
  daysCounted: count('Days counted so far.'),
  fromMs: instantMs('Start of the days, Unix ms.'),
  untilMs: instantMs('Unix ms; the first instant not counted. Equal to `fromMs`: nothing yet.'),
  fromDay: day('The first of the days.'),
  complete: flag('All days are counted. False without `next`: no recent job is known.'),
  jobsRead: count('Records read, of all subjects.'),
  next: maybe(text('`cursor` of the request that continues. Absent: nothing is left to count.')),
};

export type CountedSpan = z.infer<z.ZodObject<typeof countedSpan>>;

const BacktestCountedSchema = z
  .object({
    outcome: z.literal('counted'),
    set,
    ...countedSpan,
    all: JobsCountedSchema.openapi({ description: 'Jobs of any edited subject, each counted once.' }),
    subjects: list(
      JobsCountedSchema.extend({ subject: subject(), path: text() }),
      'One per edited subject, named as in the edits; at most 20.',
    ),
  })
  .openapi('BacktestCounted');

export type BacktestSummary = z.infer<typeof BacktestCountedSchema>;

export const BacktestSchema = z
  .discriminatedUnion('outcome', [InvalidEditsSchema, BacktestCountedSchema])
  .openapi('Backtest');

/** Includes the answers that a route of its own gives by status. */
const BacktestAnswerSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    BacktestCountedSchema,
    z
      .object({ outcome: z.literal('unknown_subject'), subject: subject() })
      .openapi({ description: 'The subject does not exist, or is not visible.' }),
    z
      .object({ outcome: z.literal('too_often'), retryAfterSeconds: count() })
      .openapi({ description: 'A backtest costs many reads: the rate is limited.' }),
  ])
  .openapi('BacktestAnswer');

export type BacktestAnswer = z.infer<typeof BacktestAnswerSchema>;

const sum = z.object({
  limits: count(),
  unlimited: count('Part of `limits`: those without an amount.'),
  amount: text('Whole units; may exceed the range of numbers.'),
});
const WrittenTotalSchema = z
  .object({
    kind: limitKind,
    unit,
    per: periodKind.nullable(),
    since: z.string().nullable().openapi({ description: 'ISO 8601; `null`: now.' }),
    zone: z.string().nullable().openapi({ description: 'IANA zone of a limit that begins or ends then.' }),
    before: sum,
    after: sum,
  })
  .openapi('LimitsTotal') satisfies z.ZodType<WrittenTotal>;
const UnderstoodSchema = z
  .object({
    line: count('Line of the file, from 1.'),
    column: z.enum(CSV_COLUMNS),
    written: text(),
    read: text('As in limits.yaml.'),
    text: text('The same in words.'),
  })
  .openapi('Understood') satisfies z.ZodType<UnderstoodCell & { readonly text: string }>;

export const ImportPreviewSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    ValidEditsSchema.extend({
      totals: list(WrittenTotalSchema, 'Sums of the limits of each kind, now and from each date on.'),
      understood: list(UnderstoodSchema, 'Cells that were read as a different text.'),
      base: orNone(text('The set that the file edits.')),
      rowsRead: count(),
      notes: list(z.string(), 'How the file was read.'),
      unnamed: list(
        z.object({ subject: subject(), limit: text() }),
        'Not in the file: `prune` removes them.',
      ),
      backtest: maybe(BacktestAnswerSchema, 'Only on request.'),
    }),
  ])
  .openapi('ImportPreview');

export const BreakGlassStateSchema = z
  .object({
    id: text(),
    subject: subject('`instance`, a group (with all below it) or a project.'),
    path: maybe(text()),
    users: list(z.int(), 'GitLab’s ids of the users whose jobs it admits.'),
    userNames: maybe(z.record(z.string(), z.string()), 'By id, if the limits have them.'),
    protected: flag('It admits jobs of protected refs.'),
    jobs: count('Maximum of admitted jobs, per `per`.'),
    per: z.enum(['hour', 'day', 'once']),
    used: count('Jobs admitted in the current period (or ever).'),
    fromMs: instantMs(),
    untilMs: instantMs(),
    zone: maybe(text('IANA zone of its dates. Absent: UTC.')),
    reason: text(),
    ticket: maybe(text()),
    by: maybe(text('Who opened it.')),
    open: z.boolean(),
    toReview: flag('It was not reviewed yet.'),
    reviewedBy: maybe(text()),
    note: maybe(text()),
  })
  .openapi('BreakGlassState') satisfies z.ZodType<BreakGlassState>;

const filed = {
  id: text(),
  state: z.enum(['pending', 'approved', 'declined']),
  requestedBy: text(),
  requestedByUser: maybe(count('GitLab’s id of the requester; absent without a sign-in.')),
  requestedAtMs: instantMs(),
  decidedBy: maybe(text()),
  decidedByUser: maybe(count()),
  decidedAtMs: maybe(instantMs()),
  note: maybe(text('Reason of the refusal, or a note of the approver.')),
  granted: flag('Approved, and in the limits.'),
  expiresAtMs: instantMs('Unix ms; a pending one can then no longer be decided.'),
};

const GrantRequestSchema = z
  .object({
    ...filed,
    subject: subject(),
    limit: text('Id of the limit.'),
    amount: z.union([z.string(), z.number()]).openapi({ description: 'As requested: `+200`.' }),
    from: text('A day or an instant.'),
    until: text('The last day, or an instant.'),
    reason: text(),
    ticket: maybe(text()),
    link: maybe(text('Its origin, e.g. the rejected job.')),
  })
  .openapi('GrantRequest', { description: 'Requests a grant.' });

const EditRequestSchema = z
  .object({
    ...filed,
    subject: subject('Subject of all changes; `instance` if there are several.'),
    limit: text('The first limit that is raised.'),
    reason: text('Why.'),
    edit: z.object({
      rows: list(ChangeRowSchema, 'The first changes that need approval.'),
      count: count('Number of rows.'),
      units: list(unit, 'Units of the raised limits.'),
      fingerprint: text('Hash of all rows: if they become different, the request is stale.'),
    }),
  })
  .openapi('EditRequest', { description: 'Requests edits that one person alone may not make.' });

export const LimitRequestSchema = z.union([GrantRequestSchema, EditRequestSchema]).openapi('Request');

const live = maybe(z.object({ set: text(), edit: count() }), 'Approved: the set it is live in.');

export const DecidedRequestSchema = z
  .union([GrantRequestSchema.extend({ live }), EditRequestSchema.extend({ live })])
  .openapi('DecidedRequest');

const row = {
  path: text(),
  limitNow: maybe(LimitRowSchema, 'The limit now; absent: it is gone, or not visible.'),
  mayDecide: flag('The caller may decide it now.'),
  own: flag('The caller filed it.'),
};

export const RequestRowSchema = z
  .union([GrantRequestSchema.extend(row), EditRequestSchema.extend(row)])
  .openapi('RequestRow');

/** The type of limit editing distinguishes the two kinds by `edit`. */
export type RequestRow = LimitRequest & {
  readonly path: string;
  readonly limitNow?: LimitRow;
  readonly mayDecide: boolean;
  readonly own: boolean;
};
