import { CAP_KINDS } from '../../../policies/limits/cap.ts';
import { limitFields, type WrittenLimit } from '../../../policies/limits/limit-fields.ts';
import {
  amount,
  count,
  day,
  flag,
  instantMs,
  instantMsOrNever,
  limitAmount,
  limitKind,
  list,
  maybe,
  mode,
  oneOf,
  onlyTrue,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../../core/schema.ts';
import { ALERT_CHANNELS, ALERT_MEASURES } from '../../core/thresholds/alert-records.ts';

export const PeriodRowSchema = z
  .object({
    key: text('As in the names of counters: `2026-11`.'),
    label: text('For people: `November 2026`.'),
    startMs: instantMsOrNever('Unix ms; `null`: it has no start.'),
    endMs: instantMsOrNever('Unix ms; `null`: it has no end.'),
  })
  .openapi('Period');

const low = maybe(amount('Lower end of the range that four of five such forecasts stay in.'));
const high = maybe(amount('Upper end of this range. Absent: unknown, or not requested.'));

const TestedForecastsSchema = z
  .object({
    months: count('Whole months of the last nine.'),
    errorPercent: amount('Mean error of the forecasts, in percent of the month’s use.'),
  })
  .openapi('TestedForecasts', { description: 'Each month is forecast after 7, 14 and 21 of its days.' });

export type TestedForecasts = z.infer<typeof TestedForecastsSchema>;

const ForecastRowSchema = z
  .object({
    outcome: z.enum(['runs_out', 'lasts', 'used_up']),
    atMs: maybe(instantMs('Unix ms; only with `runs_out`.')),
    atEndAmount: maybe(amount('Use at the end of the period.')),
    ...{ atEndLow: low, atEndHigh: high },
    tested: maybe(TestedForecastsSchema),
  })
  .openapi('Forecast', {
    description: 'When the limit runs out, if each coming day uses the mean of the last four weeks.',
  });

export type ForecastRow = z.infer<typeof ForecastRowSchema>;

const RefusingRowSchema = z
  .object({
    sinceMs: instantMs('First of the refusals among the latest fifty rejections. Unix ms.'),
    lastMs: instantMs('Last of them.'),
    jobs: count('How many of the latest rejections it caused.'),
  })
  .openapi('Refusing', { description: 'It refused jobs within the last hour, without a gap of an hour.' });

export type RefusingRow = z.infer<typeof RefusingRowSchema>;

const AlertRowSchema = z
  .object({
    level: text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
    measure: oneOf(ALERT_MEASURES, 'What reached the level: spent, spent and held, or forecast.'),
    levelAmount: amount(),
    limitAmount: amount(),
    addressee: text('The recipient, as the limits named it then.'),
    channels: list(
      z.object({
        channel: oneOf(ALERT_CHANNELS, '`topic`: mail, and all subscribers of the deployment’s topic.'),
        outcome: z.enum(['taken', 'failed']),
        atMs: instantMs('When the channel accepted the message, or first failed. Unix ms.'),
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
    each: maybe(oneOf(CAP_KINDS), 'A cap: each of these has its own counter, so the row has no figures.'),
    id: text('Unique on its subject: `money-month`.'),
    kind: limitKind,
    unit,
    amount: limitAmount('In force: with carried amounts and grants.'),
    baseAmount: limitAmount('As it was written.'),
    granted: amount('Part of `amount`: grants in force.'),
    carried: amount('From the period before; below 0: overdrawn.'),
    softAmount: maybe(amount('Amount from which the owner is warned.')),
    thresholds: maybe(
      list(
        z.object({
          name: text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
          amount: amount('The smallest use that reaches it.'),
          reached: z.boolean(),
        }),
      ),
      'Levels of alerts, lowest first.',
    ),
    alerts: maybe(
      list(AlertRowSchema),
      'Alerts of this period and amount, latest first. Absent: not recorded.',
    ),
    borrowed: maybe(amount('Used above its own amount, from other limits of the cohort.')),
    shared: maybe(
      z.object({
        amount: amount('Total that the limits of the cohort lend.'),
        used: amount('Part of it in use.'),
        mayBorrow: amount('How far this limit may exceed its amount.'),
      }),
      'Shared by the cohort now.',
    ),
    per: maybe(periodKind),
    period: maybe(PeriodRowSchema),
    zone: text('IANA zone of the period and of its dates.'),
    mode,
    rolledOutAs: maybe(mode, 'The rollout of the group makes it milder than `mode`.'),
    settled: maybe(
      amount('Final. 0 for jobs at once. Without a counter (unlimited, off, caps) all figures are absent.'),
    ),
    held: maybe(amount('Held by jobs that run or wait.')),
    fitted: maybe(amount('The part of settled and held that enforcement would have admitted.')),
    left: maybe(amount('Below 0: exceeded.')),
    percent: maybe(count('Settled and held, percent of the amount, rounded down: 100 only if used up.')),
    forecast: maybe(ForecastRowSchema),
    refusing: maybe(RefusingRowSchema, 'It refuses jobs now.'),
    ...writtenFields,
    fromMs: maybe(instantMs('Unix ms; not in force before.')),
    untilMs: maybe(instantMs('Unix ms; not in force from then on.')),
    byDefault: maybe(onlyTrue('A default of all groups like this, not the group’s own.')),
    inForce: flag('False: it has not begun or is over. Then only the written amounts count.'),
  })
  .openapi('Limit', { description: 'A limit with its counter.' });

export type LimitRow = z.infer<typeof LimitRowSchema>;

/** Total up to the end of a day. */
export const DayTotalSchema = z.object({ day: day(), total: amount() });

export const DayForecastSchema = DayTotalSchema.extend({ low, high });

export type DayForecast = z.infer<typeof DayForecastSchema>;

export const FreezeRowSchema = z
  .object({
    id: text(),
    reason: text(),
    owner: maybe(text()),
    fromMs: maybe(instantMs()),
    untilMs: maybe(instantMs('Unix ms. Absent: until it is lifted.')),
    zone: text('IANA zone of its dates.'),
    above: maybe(text('Path of the group above, or the instance, if the freeze is on that.')),
  })
  .openapi('FreezeState', { description: 'No job of the subject starts.' });

export type FreezeRow = z.infer<typeof FreezeRowSchema>;

export const GrantRowSchema = z
  .object({
    id: maybe(text()),
    limit: text('Id of the limit it adds to.'),
    unit,
    amount: amount(),
    fromMs: instantMs(),
    untilMs: instantMs(),
    zone: text('IANA zone of the limit, and so of these dates.'),
    reason: text(),
    ticket: maybe(text()),
    state: z.enum(['to_come', 'in_force']),
  })
  .openapi('GrantState');

export type GrantRow = z.infer<typeof GrantRowSchema>;
