import {
  amount,
  count,
  day,
  instantMs,
  limitAmount,
  limitKind,
  list,
  maybe,
  orNone,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';

const about = {
  id: text(),
  name: text(),
  from: day('`2027-01-01`: the first day it is about, in each limit’s own zone.'),
  by: text('Who began it.'),
  atMs: instantMs(),
  changedBy: text(),
  changedAtMs: instantMs(),
  amounts: count('Limits it names.'),
};

export const PlanSummarySchema = z.object(about).openapi('PlanSummary');

export type PlanSummary = z.infer<typeof PlanSummarySchema>;

const PlanRowSchema = z
  .object({
    subject: subject(),
    path: text(),
    limit: text('Its id, without the day that adopting gave it.'),
    kind: limitKind,
    unit,
    per: periodKind,
    zone: text('IANA zone of its periods.'),
    today: maybe(limitAmount('In force now, without grants. Absent: it begins later.')),
    planned: limitAmount('As it would be from the day on.'),
    isPlanned: z.boolean().openapi({ description: 'Whether the plan makes it another.' }),
    lastYear: maybe(
      z.object({
        fromDay: day(),
        toDay: day(),
        periods: count('Periods of the limit that are over, from the first with any use.'),
        mean: amount('What one of them used.'),
        most: amount('What the largest of them used.'),
      }),
    ).openapi({ description: 'Of the year before the day, as far as it is over. Absent: nothing was used.' }),
    forecast: maybe(amount('What its first period from the day on will use. Absent: nobody knows.')),
  })
  .openapi('PlanRow');

export type PlanRow = z.infer<typeof PlanRowSchema>;

const PlanTotalSchema = z
  .object({
    kind: limitKind,
    unit,
    per: periodKind,
    limits: count(),
    today: text('Whole units; a sum may be more than a number holds. Unlimited ones are left out.'),
    planned: text(),
  })
  .openapi('PlanTotal', {
    description: 'What all limits of a kind and period come to, parents and children alike.',
  });

export type PlanTotal = z.infer<typeof PlanTotalSchema>;

export const PlanViewSchema = z
  .object({
    ...about,
    state: z.enum(['draft', 'asked', 'adopted', 'over']).openapi({
      description:
        '`asked`: a request waits for somebody’s approval. `adopted`: the limits are so from its day on. `over`: the day is here.',
    }),
    request: maybe(text('The id of the request that adopts it, while it waits.')),
    set: orNone(text('The set of limits it stands on.')),
    currency: text('ISO 4217.'),
    rows: list(PlanRowSchema).openapi({ description: 'By path.' }),
    total: count('Limits it can be about.'),
    next: maybe(text('`cursor` of the next page.')),
    totals: list(PlanTotalSchema),
    gone: list(z.object({ subject: subject(), path: text(), limit: text(), amount: text() })).openapi({
      description: 'Planned for limits that are none of that day any more; adopting leaves them out.',
    }),
    problems: list(text()).openapi({
      description: 'Why it does not fit the limits as they are by now; `planned` is then without it.',
    }),
  })
  .openapi('Plan', { description: 'Limits for a day to come, drafted; in force for nobody.' });

export type PlanView = z.infer<typeof PlanViewSchema>;

export interface PlanQuery {
  readonly id: string;
  readonly cursor?: string;
  /** 1–2000; use is told of at most 100. @default 40 */
  readonly max?: number;
}
