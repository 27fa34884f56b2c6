/** Budgets, exceptions, previews of edits and imports, counts of jobs, and requests, as users see them. */

import type { LimitKind } from '../../../policies/unit.ts';
import { CSV_COLUMNS, type UnderstoodCell } from '../../core/limits/csv/columns.ts';
import type { WrittenTotal } from '../../core/limits/csv/export-limits.ts';
import {
  type ChangeRow,
  ChangeRowSchema,
  type LogEntry,
  OversubscriptionSchema,
} from '../../core/limits/edit-model.ts';
import { EditRequestSchema, GrantRequestSchema, type LimitRequest } from '../../core/limits/edit-outcomes.ts';
import * as s from '../../core/schema.ts';
import { limitKind, periodKind, unit, z } from '../../core/schema.ts';
import { LimitRowSchema } from '../status/model.ts';
import type { BUDGET_ORDERS, RISK_FILTERS, SubjectKind } from './filters.ts';

export type { ChangeRow, LimitRequest, LogEntry, WrittenTotal };

const set = s.orNone(s.text('The live set; absent: none was ever live.'));

const InvalidEditsSchema = z
  .object({
    outcome: z.literal('invalid'),
    problems: s.list(
      z.object({
        path: s.list(z.union([z.string(), z.number()]), 'Place in the request.'),
        message: s.text('The problem, and the expected value.'),
        atKey: s.maybe(s.flag('The key is wrong, not its value.')),
      }),
    ),
    set,
  })
  .openapi('InvalidEdits');

const EditEffectSchema = z
  .object({
    subject: s.subject(),
    path: s.text(),
    limit: s.text('Its id.'),
    before: s.maybe(LimitRowSchema, 'Absent: it is new.'),
    after: s.maybe(LimitRowSchema, 'Absent: it is removed. Its numbers are those of today’s counter.'),
  })
  .openapi('EditEffect');

export type EditEffect = z.infer<typeof EditEffectSchema>;

const ValidEditsSchema = z
  .object({
    outcome: z.literal('valid'),
    set,
    stale: s.flag('The edits’ base is not live (any more): making them live would be refused.'),
    rows: s.list(ChangeRowSchema),
    theirs: s.maybe(
      s.list(ChangeRowSchema),
      'Only if `stale`: changes by others since, of the same subjects.',
    ),
    oversubscription: s.list(OversubscriptionSchema, 'Of the changed limits and their parents.'),
    needsConfirmation: s.list(
      ChangeRowSchema,
      'Amounts that become more than three times as large, or less than a third, and milder modes.',
    ),
    needsApproval: s.list(ChangeRowSchema, 'Changes that another person must approve.'),
    lockout: s.list(z.string(), 'Jobs of the platform itself that would be rejected, to be confirmed.'),
    effects: s.list(EditEffectSchema, 'One per limit whose amount changes; at most 20.'),
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
  jobs: s.count(),
  wouldFail: s.count('Under the edited limits.'),
  wouldFailNow: s.count('Under the limits as they are.'),
  wouldWait: s.maybe(
    s.count('Jobs that get room within the `wait` of an edited limit, and run. Absent: none.'),
  ),
  failed: s.count('Really rejected.'),
  unasked: s.count('Without an admission request: they use limits, and are not in `jobs`.'),
});

export type BacktestCounts = z.infer<typeof JobsCountedSchema>;

export const countedSpan = {
  days: s.count('Days to count, including today.'),
  daysCounted: s.count('Days counted so far.'),
  fromMs: s.instantMs('Start of the days, Unix ms.'),
  untilMs: s.instantMs('Unix ms; the first instant not counted. Equal to `fromMs`: nothing yet.'),
  fromDay: s.day('The first of the days.'),
  complete: s.flag('All days are counted. False without `next`: no recent job is known.'),
  jobsRead: s.count('Records read, of all subjects.'),
  next: s.maybe(s.text('`cursor` of the request that continues. Absent: nothing is left to count.')),
};

export type CountedSpan = z.infer<z.ZodObject<typeof countedSpan>>;

const BacktestCountedSchema = z
  .object({
    outcome: z.literal('counted'),
    set,
    ...countedSpan,
    all: JobsCountedSchema.openapi({ description: 'Jobs of any edited subject, each counted once.' }),
    subjects: s.list(
      JobsCountedSchema.extend({ subject: s.subject(), path: s.text() }),
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
    ...BacktestSchema.options,
    z
      .object({ outcome: z.literal('unknown_subject'), subject: s.subject() })
      .openapi({ description: 'The subject does not exist, or is not visible.' }),
    z
      .object({ outcome: z.literal('too_often'), retryAfterSeconds: s.count() })
      .openapi({ description: 'A backtest costs many reads: the rate is limited.' }),
  ])
  .openapi('BacktestAnswer');

export type BacktestAnswer = z.infer<typeof BacktestAnswerSchema>;

const sum = z.object({
  limits: s.count(),
  unlimited: s.count('Part of `limits`: those without an amount.'),
  amount: s.text('Whole units; may exceed the range of numbers.'),
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
    line: s.count('Line of the file, from 1.'),
    column: z.enum(CSV_COLUMNS),
    written: s.text(),
    read: s.text('As in limits.yaml.'),
    text: s.text('The same in words.'),
  })
  .openapi('Understood') satisfies z.ZodType<UnderstoodCell & { readonly text: string }>;

export const ImportPreviewSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    ValidEditsSchema.extend({
      totals: s.list(WrittenTotalSchema, 'Sums of the limits of each kind, now and from each date on.'),
      understood: s.list(UnderstoodSchema, 'Cells that were read as a different text.'),
      base: s.orNone(s.text('The set that the file edits.')),
      rowsRead: s.count(),
      notes: s.list(z.string(), 'Interpretation of the file.'),
      unnamed: s.list(
        z.object({ subject: s.subject(), limit: s.text() }),
        'Not in the file: `prune` removes them.',
      ),
      backtest: s.maybe(BacktestAnswerSchema, 'Only on request.'),
    }),
  ])
  .openapi('ImportPreview');

const live = s.maybe(z.object({ set: s.text(), edit: s.count() }), 'Approved: the set it is live in.');

export const DecidedRequestSchema = z
  .union([GrantRequestSchema.extend({ live }), EditRequestSchema.extend({ live })])
  .openapi('DecidedRequest');

const row = {
  path: s.text(),
  limitNow: s.maybe(LimitRowSchema, 'The limit now; absent: it is gone, or not visible.'),
  mayDecide: s.flag('The caller may decide it now.'),
  own: s.flag('The caller filed it.'),
};

export const RequestRowSchema = z
  .union([GrantRequestSchema.extend(row), EditRequestSchema.extend(row)])
  .openapi('RequestRow');

/** The type of limit editing distinguishes the two kinds by `edit`. */
export type RequestRow = LimitRequest & Readonly<z.infer<z.ZodObject<typeof row>>>;

/* Budgets and exceptions. */

export interface BudgetsQuery {
  /** Part of a path or name, of a limit's id or its owner, any case; at most 200 characters. */
  readonly search?: string;
  readonly kind?: SubjectKind;
  readonly unit?: LimitKind;
  readonly risk?: (typeof RISK_FILTERS)[number];
  /** @default `risk`; with `holding` the closest first */
  readonly sort?: (typeof BUDGET_ORDERS)[number];
  readonly caps?: boolean;
  readonly below?: string;
  /** Only limits that bind this subject's jobs: its own, then those above. Adds the errors of past forecasts. */
  readonly holding?: string;
  readonly percentMin?: number;
  readonly cursor?: string;
  readonly max?: number;
}

const BudgetRowSchema = LimitRowSchema.extend({
  path: s.text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
  recipient: s.text('Recipient of its alerts: the limit’s, else that of limits above, else finance.'),
  canRunOut: s.flag('It can run out: an amount of money, minutes or starts, for a day or longer.'),
}).openapi('Budget');

export type BudgetRow = z.infer<typeof BudgetRowSchema>;

export const BudgetsSchema = z
  .object({
    set: s.maybe(s.text('Absent: no set was ever live, and these limits are packed with the deployment.')),
    currency: s.text(),
    nowMs: s.instantMs(),
    rows: s.list(BudgetRowSchema, 'Highest risk first by default.'),
    total: s.count('Limits that match, on all pages.'),
    first: s.count('1-based number of the first row.'),
    next: s.maybe(s.text('`cursor` of the next page.')),
    previous: s.maybe(s.text('`cursor` of the previous page.')),
    refusing: s.count('Limits that refuse jobs now, of all that match without the filter `risk`.'),
    usedUp: s.count('Limits with nothing left.'),
    runsOut: s.count('Other limits that refuse jobs or run out before their period ends.'),
    forecastMax: s.count(
      'Only this many of the fullest limits have a forecast; the others are ordered by share.',
    ),
  })
  .openapi('Budgets', { description: 'Limits in force, with their counters.' });

export type Budgets = z.infer<typeof BudgetsSchema>;

const OwnLimitSchema = z
  .object({
    id: s.text(),
    kind: limitKind,
    unit,
    amount: s.limitAmount('As written, without grants; whole units of `unit`.'),
    per: s.maybe(periodKind, 'Absent: a limit of concurrent jobs.'),
    inForce: s.flag('It has begun and not ended.'),
  })
  .openapi('OwnLimit');

export const OwnLimitsSchema = s.list(OwnLimitSchema).openapi('OwnLimits');
export type OwnLimit = z.infer<typeof OwnLimitSchema>;

const ExceptionRowSchema = z
  .object({
    kind: s.oneOf(['grant', 'freeze', 'breakglass']),
    id: s.text('For its removal.'),
    subject: s.subject(),
    what: s.text('`+200 on money-month`, `5 jobs, day`; empty for a freeze.'),
    from: s.text('As written; empty: open.'),
    until: s.text('As written; empty: until it is lifted.'),
    zone: s.text('IANA zone of `from` and `until`.'),
    reason: s.text(),
    by: s.text(),
  })
  .openapi('Exception', { description: 'An exception to the limits, with author, end and reason.' });

export const ExceptionsSchema = s.list(ExceptionRowSchema).openapi('Exceptions');
export type ExceptionRow = z.infer<typeof ExceptionRowSchema>;

export const ReconciliationSchema = z
  .object({
    state: s.oneOf(['agrees', 'differs', 'unchecked'], '`agrees`: every counter equals the sum of its jobs.'),
    checkedAtMs: s.maybe(s.instantMs('Start of the recount of all jobs, Unix ms.')),
    differing: s.list(
      z.object({
        subject: s.subject(),
        path: s.text('Of a group or project; else the subject.'),
        limit: s.text('Id of the limit.'),
        period: s.text('`2026-11`'),
        beyond: s.count('Counter less its jobs, whole units of the limit.'),
      }),
      'Those that the caller sees, at most 20.',
    ),
    unlisted: s.count('Number of further differences.'),
    usage: s.maybe(
      z.object({
        jobs: s.count('Compared jobs of the last days.'),
        mended: s.count('Jobs that usage lacked or had differently, now corrected.'),
        failed: s.count('Jobs that could not be compared.'),
      }),
      'Of the whole GitLab, for callers who see it all.',
    ),
    text: s.text('For people: one sentence or two, with times in the deployment’s zone.'),
  })
  .openapi('Reconciliation', { description: 'Comparison of counters and statements, and its time.' });

export type Reconciliation = z.infer<typeof ReconciliationSchema>;
