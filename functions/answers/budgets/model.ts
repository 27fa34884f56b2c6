import type { LimitKind } from '../../../policies/units/unit.ts';
import {
  count,
  instantMs,
  limitAmount,
  limitKind,
  list,
  maybe,
  periodKind,
  text,
  unit,
  z,
} from '../reading/schema.ts';
import { LimitRowSchema } from '../standing/model.ts';

/** Kind of a limit's subject; `cap`: each pipeline, user, … of a group or project. */
export const SUBJECT_KINDS = [
  'instance',
  'group',
  'project',
  'runner-class',
  'runner',
  'user',
  'cap',
] as const;

export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** `trouble`: what refuses jobs, is used up, runs out soonest, then by share; `fullest`: by share used; `name`: by path. */
export const BUDGET_ORDERS = ['trouble', 'fullest', 'name'] as const;

/** `used-up`: nothing is left; `runs-out`: that, or it refuses jobs, or is gone before the period ends. */
export const TROUBLE_FILTERS = ['used-up', 'runs-out'] as const;

export interface BudgetsQuery {
  /** Part of a path or name, of a limit's id or its owner, any case; at most 200 characters. */
  readonly search?: string;
  readonly kind?: SubjectKind;
  /** The unit. */
  readonly unit?: LimitKind;
  readonly trouble?: (typeof TROUBLE_FILTERS)[number];
  /** @default `trouble`; with `holding` the closest first */
  readonly sort?: (typeof BUDGET_ORDERS)[number];
  /** Caps as well; they have no counter of their own, and come last. */
  readonly caps?: boolean;
  /** Only this subject's own limits and those of everything below it. */
  readonly below?: string;
  /** Only the limits that hold for this subject's jobs: its own, then those above. Also how far off past forecasts were. */
  readonly holding?: string;
  /** Only limits with at least this percentage settled and held. */
  readonly percentMin?: number;
  /** `next` of the page before, with the same questions. */
  readonly cursor?: string;
  /** 1–1000. @default 100 */
  readonly max?: number;
}

const BudgetRowSchema = LimitRowSchema.extend({
  path: text('Full path of a group or project, name of a class; `The whole GitLab` for the instance.'),
  addressee: text('Who is told at its thresholds: whom it names, else whom those above name, else finance.'),
  canRunOut: z.boolean().openapi({
    description: 'Whether it can run out at all: an amount of money, minutes or starts, for a day or longer.',
  }),
}).openapi('Budget');

export type BudgetRow = z.infer<typeof BudgetRowSchema>;

export const BudgetsSchema = z
  .object({
    set: maybe(
      text('Absent: no set was ever made live, and these are the limits packed with the deployment.'),
    ),
    currency: text(),
    nowMs: instantMs(),
    rows: list(BudgetRowSchema).openapi({ description: 'The highest risk first, unless asked otherwise.' }),
    total: count('Limits that match, in all.'),
    first: count('1-based number of the first row.'),
    next: maybe(text('`cursor` of the next page.')),
    previous: maybe(text('`cursor` of the page before it.')),
    refusing: count('Limits that refuse jobs now, of all that match but for `trouble`.'),
    usedUp: count('Limits of which nothing is left.'),
    runsOut: count('Limits that refuse jobs or are gone before their period ends, and are not used up.'),
    forecastMax: count('Only so many of the fullest are forecast; of the others the share decides.'),
  })
  .openapi('Budgets', { description: 'Limits in force and how they stand.' });

export type Budgets = z.infer<typeof BudgetsSchema>;

const OwnLimitSchema = z
  .object({
    id: text(),
    kind: limitKind,
    unit,
    amount: limitAmount('As it is written, without grants; whole units of `unit`.'),
    per: maybe(periodKind).openapi({ description: 'Absent: of what is used at once.' }),
    inForce: z.boolean().openapi({ description: 'Whether it has begun and not ended.' }),
  })
  .openapi('OwnLimit');

export const OwnLimitsSchema = list(OwnLimitSchema).openapi('OwnLimits');

export type OwnLimit = z.infer<typeof OwnLimitSchema>;
