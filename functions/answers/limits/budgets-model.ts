import type { LimitKind } from '../../../policies/unit.ts';
import {
  count,
  flag,
  instantMs,
  limitAmount,
  limitKind,
  list,
  maybe,
  oneOf,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../../core/schema.ts';
import { LimitRowSchema } from '../status/model.ts';

/** Kind of a limit's subject; `cap`: each pipeline, user, … of a group or project. */
const PLACES = ['instance', 'group', 'project', 'runner-class', 'runner', 'user'] as const;
export const SUBJECT_KINDS = [...PLACES, 'cap'] as const;

export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** `trouble`: refusing, used up, soonest to run out, then by share; `fullest`: by share; `name`: by path. */
export const BUDGET_ORDERS = ['trouble', 'fullest', 'name'] as const;

/** `used-up`: nothing is left; `runs-out`: that, or it refuses jobs or runs out before the period ends. */
export const RISK_FILTERS = ['used-up', 'runs-out'] as const;

export interface BudgetsQuery {
  /** Part of a path or name, of a limit's id or its owner, any case; at most 200 characters. */
  readonly search?: string;
  readonly kind?: SubjectKind;
  readonly unit?: LimitKind;
  readonly trouble?: (typeof RISK_FILTERS)[number];
  /** @default `trouble`; with `holding` the closest first */
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
  path: text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
  addressee: text('Recipient of its alerts: the limit’s, else that of limits above, else finance.'),
  canRunOut: flag('It can run out: an amount of money, minutes or starts, for a day or longer.'),
}).openapi('Budget');

export type BudgetRow = z.infer<typeof BudgetRowSchema>;

export const BudgetsSchema = z
  .object({
    set: maybe(text('Absent: no set was ever live, and these limits are packed with the deployment.')),
    currency: text(),
    nowMs: instantMs(),
    rows: list(BudgetRowSchema, 'Highest risk first by default.'),
    total: count('Limits that match, on all pages.'),
    first: count('1-based number of the first row.'),
    next: maybe(text('`cursor` of the next page.')),
    previous: maybe(text('`cursor` of the previous page.')),
    refusing: count('Limits that refuse jobs now, of all that match without the filter `trouble`.'),
    usedUp: count('Limits of which nothing is left.'),
    runsOut: count('Other limits that refuse jobs or run out before their period ends.'),
    forecastMax: count('Only so many of the fullest are forecast; the others are ordered by share.'),
  })
  .openapi('Budgets', { description: 'Limits in force, with their counters.' });

export type Budgets = z.infer<typeof BudgetsSchema>;

const OwnLimitSchema = z
  .object({
    id: text(),
    kind: limitKind,
    unit,
    amount: limitAmount('As written, without grants; whole units of `unit`.'),
    per: maybe(periodKind, 'Absent: a limit of jobs at once.'),
    inForce: flag('It has begun and not ended.'),
  })
  .openapi('OwnLimit');

export const OwnLimitsSchema = list(OwnLimitSchema).openapi('OwnLimits');
export type OwnLimit = z.infer<typeof OwnLimitSchema>;

const ExceptionRowSchema = z
  .object({
    kind: oneOf(['grant', 'freeze', 'breakglass']),
    id: text('For its removal.'),
    subject: subject(),
    what: text('`+200 on money-month`, `5 jobs, day`; empty for a freeze.'),
    from: text('As written; empty: open.'),
    until: text('As written; empty: until it is lifted.'),
    zone: text('IANA zone of `from` and `until`.'),
    reason: text(),
    by: text(),
  })
  .openapi('Exception', { description: 'An exception to the limits: by whom, until when and why.' });

export const ExceptionsSchema = list(ExceptionRowSchema).openapi('Exceptions');
export type ExceptionRow = z.infer<typeof ExceptionRowSchema>;

export const ReconciliationSchema = z
  .object({
    state: oneOf(['agrees', 'differs', 'unchecked'], '`agrees`: every counter equals the sum of its jobs.'),
    checkedAtMs: maybe(instantMs('Start of the recount of all jobs, Unix ms.')),
    differing: list(
      z.object({
        subject: subject(),
        path: text('Of a group or project; else the subject.'),
        limit: text('Id of the limit.'),
        period: text('`2026-11`'),
        beyond: count('Counter less its jobs, whole units of the limit.'),
      }),
      'Those that the caller sees, at most 20.',
    ),
    unlisted: count('How many more differ.'),
    usage: maybe(
      z.object({
        jobs: count('Compared jobs of the last days.'),
        mended: count('Part of them: jobs that usage lacked or had differently, and has now.'),
        failed: count('Part of them: could not be compared.'),
      }),
      'Of the whole GitLab, for callers who see it all.',
    ),
    text: text('For people: one sentence or two, with times in the deployment’s zone.'),
  })
  .openapi('Reconciliation', { description: 'Comparison of counters and statements, and its time.' });

export type Reconciliation = z.infer<typeof ReconciliationSchema>;
