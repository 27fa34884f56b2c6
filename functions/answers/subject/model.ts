import { HistoryPageSchema } from '../history/model.ts';
import { GroupRowSchema, GroupSumSchema } from '../overview/model.ts';
import {
  amount,
  count,
  instantMs,
  list,
  maybe,
  mode,
  orNone,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';
import {
  DayForecastSchema,
  DayTotalSchema,
  FreezeRowSchema,
  GrantRowSchema,
  LimitRowSchema,
  PeriodRowSchema,
  PoolNoteSchema,
} from '../standing/model.ts';
import { UsageViewSchema } from '../usage/model.ts';

export interface SubjectQuery {
  /** Which limit the chart is of. @default the budget that runs out first */
  readonly limit?: string;
}

const MaySchema = z
  .object({
    tighten: z.boolean(),
    loosen: z.boolean(),
    grant: z.boolean(),
    freeze: z.boolean(),
    breakGlass: z.boolean(),
    rollOut: z.boolean(),
    ask: z.boolean(),
  })
  .openapi('May', {
    description: 'What the viewer may do here; it is decided anew when they do it.',
  });

export type SubjectRights = z.infer<typeof MaySchema>;

const BurnUpSchema = z
  .object({
    limit: text('Its id.'),
    unit,
    period: PeriodRowSchema,
    amount: maybe(amount('What is in force now; absent: unlimited.')),
    softAmount: maybe(amount()),
    days: list(DayTotalSchema.extend({ used: amount() })).openapi({
      description:
        'From the period’s first day to today. `total` is what came together until the end of the day, held amounts included.',
    }),
    ahead: list(DayForecastSchema).openapi({
      description:
        'From today to the end of the period as forecast; empty where nothing is known or the period does not end.',
    }),
    unexplained: amount(
      'What the counter has beyond the days: jobs that are not added up yet, carried holds. Added to today’s total. Below 0: the days have more.',
    ),
  })
  .openapi('BurnUp', { description: 'Day by day against the limit.' });

export type BurnUpChart = z.infer<typeof BurnUpSchema>;

const BudgetAgreementSchema = z
  .object({
    subject: subject(),
    limit: text('Its id.'),
    unit,
    period: text('`2026-11`'),
    counterAmount: amount('What the counter has.'),
    usageAmount: amount(
      'What the period’s days come to: money includes what is held, minutes only what has ended.',
    ),
    cause: maybe(
      z.enum(['other_zone', 'not_added_up', 'not_counted']).openapi({
        description:
          'Only where both differ. `other_zone`: the limit’s days begin at other instants than those of usage. `not_added_up`: the counter has more, jobs that were decided just now or corrections by hand. `not_counted`: the days have more, jobs from before the limit counted or while it was off.',
      }),
    ),
    records: maybe(
      z.object({
        recountedAtMs: instantMs(),
        counterBeyond: orNone(z.number()).openapi({
          description:
            'What the counter had beyond what its records, and so statements, make. Absent: too many differ to list all.',
        }),
      }),
    ).openapi({ description: 'Absent: this period was not recounted yet.' }),
  })
  .openapi('BudgetAgreement', {
    description: 'Whether counter, usage and records of a budget agree, and why not.',
  });

export const SubjectViewSchema = z
  .object({
    set: orNone(text('The set of limits it shows; absent: none was ever made live.')),
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    zone: text(
      'IANA zone in which days are meant that somebody writes about it: its own limits’ zone, else that of those above.',
    ),
    subject: subject(),
    kind: z.enum(['instance', 'group', 'project', 'runner-class']),
    path: text('Full path, or the class’s name.'),
    above: list(z.object({ subject: subject(), path: text() })).openapi({
      description: 'Topmost first, as far as the viewer sees them; without itself.',
    }),
    limits: list(LimitRowSchema).openapi({
      description: 'Every limit written for it or its by default, in force or not.',
    }),
    caps: list(LimitRowSchema).openapi({
      description:
        'What each pipeline, job or user here has by itself: `each` says of what. They have no figures.',
    }),
    limitsAbove: list(
      z.object({
        label: text(),
        unit,
        amount: amount(),
        left: amount(),
        periodLabel: maybe(text()),
        contact: maybe(text()),
      }),
    ).openapi({
      description:
        'Limits of groups above that the viewer does not see, as far as the group’s disclosure allows; no more than this.',
    }),
    pools: list(PoolNoteSchema.extend({ limit: text('The id of the limit that is one.') })),
    burnUp: maybe(BurnUpSchema),
    agreements: list(BudgetAgreementSchema).openapi({ description: 'One for each budget in force.' }),
    usage: UsageViewSchema,
    grants: list(GrantRowSchema),
    freezes: list(FreezeRowSchema).openapi({
      description: 'In force and to come, its own and those from above.',
    }),
    rollout: maybe(z.object({ cost: maybe(mode), capacity: maybe(mode) })).openapi({
      description: 'How far rules go while they are rolled out; absent: as the policy says.',
    }),
    history: HistoryPageSchema,
    children: list(GroupRowSchema).openapi({
      description: 'Groups right below, by path, at most 25: `GET /groups?under=` pages through more.',
    }),
    childCount: count(),
    childrenSum: maybe(GroupSumSchema),
    may: MaySchema,
  })
  .openapi('Subject');

export type SubjectView = z.infer<typeof SubjectViewSchema>;
