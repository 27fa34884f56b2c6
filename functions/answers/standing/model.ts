import { CAP_KINDS } from '../../../policies/limits/cap.ts';
import { limitFields, type WrittenLimit } from '../../../policies/limits/limit-fields.ts';
import { ALERT_CHANNELS, ALERT_MEASURES } from '../../core/thresholds/alert-records.ts';
import {
  amount,
  count,
  day,
  instantMs,
  instantMsOrNever,
  limitAmount,
  limitKind,
  list,
  maybe,
  mode,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';

export const PeriodRowSchema = z
  .object({
    key: text('As the counters are named: `2026-11`.'),
    label: text('For people: `November 2026`.'),
    startMs: instantMsOrNever('Unix ms; `null`: it always was.'),
    endMs: instantMsOrNever('Unix ms; `null`: it never starts anew.'),
  })
  .openapi('Period');

const TestedForecastsSchema = z
  .object({
    months: count('Whole months of the last nine.'),
    errorPercent: z.number().openapi({
      description: 'Mean of how far off the forecasts were, in percent of what the month came to.',
    }),
    insidePercent: maybe(
      z.number().openapi({ description: 'How many of the months the band held. Absent: none had one.' }),
    ),
    forecasts: list(
      z.object({
        month: text('`2026-10`'),
        daysOver: count('How many of its days were over.'),
        forecast: amount('What it was to come to, by what was known then.'),
        low: maybe(amount()),
        high: maybe(amount()),
        outcome: amount('What it came to.'),
      }),
    ).openapi({ description: 'The oldest first.' }),
  })
  .openapi('TestedForecasts', {
    description:
      'How far off such forecasts were: each month forecast when 7, 14 and 21 of its days were over.',
  });

export type TestedForecasts = z.infer<typeof TestedForecastsSchema>;

const ForecastRowSchema = z
  .object({
    outcome: z.enum(['runs_out', 'lasts', 'used_up']),
    atMs: maybe(instantMs('Unix ms; only with `runs_out`.')),
    atEndAmount: maybe(amount('What it will come to at the end of the period.')),
    atEndLow: maybe(amount('Four of five such forecasts end between this …')),
    atEndHigh: maybe(amount('… and this, if they go on as they did. Absent: nobody knows, or nobody asked.')),
    tested: maybe(TestedForecastsSchema),
  })
  .openapi('Forecast', {
    description:
      'When what is left is used up, if every day is like its weekday in the last four weeks and the weeks go on as the last eight did.',
  });

export type ForecastRow = z.infer<typeof ForecastRowSchema>;

const RefusingRowSchema = z
  .object({
    sinceMs: instantMs(
      'The first of the refusals, as far back as the latest fifty rejections show. Unix ms.',
    ),
    lastMs: instantMs('The last of them.'),
    jobs: count('How many of the latest rejections it caused.'),
  })
  .openapi('Refusing', { description: 'It refused jobs within the last hour, without a gap of an hour.' });

export type RefusingRow = z.infer<typeof RefusingRowSchema>;

const AlertRowSchema = z
  .object({
    level: text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
    measure: z.enum(ALERT_MEASURES).openapi({
      description: 'What reached it: what is spent, that with what is held, or the forecast for the end.',
    }),
    levelAmount: amount('What the level came to then.'),
    limitAmount: amount('What the limit came to then.'),
    withdrawn: maybe(
      z.literal(true).openapi({ description: 'The limit has another amount now: its levels are others.' }),
    ),
    addressee: text('Who was told, as the limits named them then.'),
    channels: list(
      z.object({
        channel: z.enum(ALERT_CHANNELS).openapi({
          description: '`topic`: mail, and whatever else listens to the deployment’s topic.',
        }),
        outcome: z.enum(['taken', 'failed']),
        atMs: instantMs('When it took the message over, or first did not. Unix ms.'),
      }),
    ),
  })
  .openapi('Alert');

export type AlertRow = z.infer<typeof AlertRowSchema>;

const WRITTEN_SCHEMAS = {
  part: () => z.union([z.string(), z.number()]),
  percents: () => list(z.union([z.number(), z.string()])),
  word: () => text(),
  text: () => text(),
  day: () => text(),
};

/** The fields of a limit as they were written: a share as `80%`, or whole units. Absent: not written. */
const writtenFields = Object.fromEntries(
  limitFields.flatMap(({ row, type, choices = [], help: description }) => {
    const schema: z.ZodType = type === 'choice' ? z.enum(choices as [string]) : WRITTEN_SCHEMAS[type]();
    return row === undefined ? [] : [[row, maybe(schema.openapi({ description }))]];
  }),
) as unknown as {
  readonly [Row in keyof WrittenLimit]-?: z.ZodOptional<z.ZodType<NonNullable<WrittenLimit[Row]>>>;
};

export const LimitRowSchema = z
  .object({
    subject: subject(),
    each: z.enum(CAP_KINDS).optional().openapi({
      description:
        'A cap: each of these has a counter of its own, and the figures here are of none. Absent: no cap.',
    }),
    id: text('Unique on its subject: `money-month`.'),
    kind: limitKind,
    unit,
    amount: limitAmount('What is in force: with what was carried over and grants.'),
    baseAmount: limitAmount('As it was written.'),
    granted: amount('Part of `amount`: what grants in force add.'),
    carried: amount('Over from the period before; below 0 overdrawn.'),
    softAmount: maybe(amount('From which amount on the owner is warned.')),
    graceAmount: maybe(amount('What may be used beyond the amount.')),
    thresholds: maybe(
      list(
        z.object({
          name: text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
          amount: amount('The smallest use that has reached it.'),
          reached: z.boolean(),
        }),
      ),
    ).openapi({
      description: 'The levels at which somebody is told, the lowest first. Absent: at none.',
    }),
    alerts: maybe(list(AlertRowSchema)).openapi({
      description:
        'Of which levels somebody was told, or was to be told, in this period; the latest first. Absent: nobody is, or nobody notes it.',
    }),
    borrowed: maybe(amount('Used above its own, of what others of the cohort lend.')),
    shared: maybe(
      z
        .object({
          amount: amount('What all limits of the cohort lend.'),
          used: amount('How much of it is used, by whomever.'),
          mayBorrow: amount('How far this limit may go above its own.'),
        })
        .openapi({ description: 'What the cohort shares now. Absent: it is in none.' }),
    ),
    per: maybe(periodKind),
    period: maybe(PeriodRowSchema),
    zone: text('IANA zone of the period and of its dates.'),
    mode,
    rolledOutAs: maybe(
      mode.openapi({ description: 'The rollout of the group makes it milder than `mode`.' }),
    ),
    settled: maybe(
      amount(
        'Solid part of the bar: final. 0 for what is counted at once. This and the following figures are absent where no counter of it exists: of an unlimited limit, one in mode `off`, and a cap.',
      ),
    ),
    held: maybe(amount('Hatched part: held by jobs that run or wait.')),
    fitted: maybe(
      amount(
        'Settled and held, of it what would fit had this been enforced; differs from the sum only in shadow and warn.',
      ),
    ),
    left: maybe(amount('Below 0: passed.')),
    percent: maybe(
      count(
        'Settled and held of the amount, whole percent, rounded down; 100 or more only if it is used up.',
      ),
    ),
    forecast: maybe(ForecastRowSchema),
    refusing: maybe(RefusingRowSchema).openapi({
      description: 'It refuses jobs now. Absent: it does not, or it is no budget of a day or longer.',
    }),
    ...writtenFields,
    fromMs: maybe(instantMs('Unix ms; it asks nothing before.')),
    untilMs: maybe(instantMs('Unix ms; it asks nothing from then on.')),
    byDefault: maybe(
      z.literal(true).openapi({ description: 'It is the default of all groups like this, not its own.' }),
    ),
    inForce: z.boolean().openapi({
      description: 'False for one that has not begun or is over; then no numbers but the written ones count.',
    }),
  })
  .openapi('Limit', { description: 'A limit and how its counter stands.' });

export type LimitRow = z.infer<typeof LimitRowSchema>;

/** Total up to the end of a day. */
export const DayTotalSchema = z.object({ day: day(), total: amount() });

/** The same of a day to come, as forecast. */
export const DayForecastSchema = DayTotalSchema.extend({
  low: maybe(amount('Four of five such forecasts lie between this …')),
  high: maybe(amount('… and this.')),
});

export type DayForecast = z.infer<typeof DayForecastSchema>;

export const FreezeRowSchema = z
  .object({
    id: text(),
    reason: text(),
    owner: maybe(text()),
    fromMs: maybe(instantMs()),
    untilMs: maybe(instantMs('Unix ms. Absent: until somebody lifts it.')),
    zone: text('IANA zone the edges are told in.'),
    above: maybe(text('Path of the group above, or of the instance, if the freeze is on that.')),
  })
  .openapi('FreezeState', { description: 'Nothing of the subject starts.' });

export type FreezeRow = z.infer<typeof FreezeRowSchema>;

export const GrantRowSchema = z
  .object({
    id: maybe(text()),
    limit: text('The id of the limit it adds to.'),
    unit,
    amount: amount(),
    fromMs: instantMs(),
    untilMs: instantMs(),
    zone: text('The limit’s: the edges are told in it.'),
    reason: text(),
    ticket: maybe(text()),
    state: z
      .enum(['to_come', 'in_force', 'over'])
      .openapi({ description: 'Those that are over are listed for 30 days.' }),
    remainingMs: amount('Milliseconds until it ends, or, to come, until it begins.'),
  })
  .openapi('GrantState');

export type GrantRow = z.infer<typeof GrantRowSchema>;

/** A limit below its children's sum: first come, first served. */
export const PoolNoteSchema = z
  .object({
    childrenAmount: amount('What the closest limits below come to.'),
    children: count(),
    unlimited: count('Of `children`: they are not in the sum.'),
    larger: list(z.string()).openapi({
      description:
        'Paths of children whose own limit is larger than this one, or unlimited: this one binds them. At most ten.',
    }),
  })
  .openapi('Pool', {
    description: 'It is given to its children more than once: whoever comes first has it.',
  });
