import { CAP_KINDS } from '../../../policies/limits/cap.ts';
import { limitFields, type WrittenLimit } from '../../../policies/limits/limit-fields.ts';
import * as s from '../../core/schema.ts';
import { limitKind, mode, periodKind, unit, z } from '../../core/schema.ts';
import { ALERT_CHANNELS, ALERT_MEASURES } from '../../core/thresholds/alert-records.ts';

export const PeriodRowSchema = z
  .object({
    key: s.text('As in the names of counters: `2026-11`.'),
    label: s.text('For people: `November 2026`.'),
    startMs: s.instantMsOrNever('Unix ms; `null`: it has no start.'),
    endMs: s.instantMsOrNever('Unix ms; `null`: it has no end.'),
  })
  .openapi('Period');

const low = s.maybe(s.amount('Lower end of the range that four of five such forecasts stay in.'));
const high = s.maybe(s.amount('Upper end of this range. Absent: unknown, or not requested.'));

const TestedForecastsSchema = z
  .object({
    months: s.count('Whole months of the last nine.'),
    errorPercent: s.amount('Mean error of the forecasts, in percent of the month’s use.'),
  })
  .openapi('TestedForecasts', { description: 'Each month is forecast after 7, 14 and 21 of its days.' });

const ForecastRowSchema = z
  .object({
    outcome: z.enum(['runs_out', 'lasts', 'used_up']),
    atMs: s.maybe(s.instantMs('Unix ms; only with `runs_out`.')),
    atEndAmount: s.maybe(s.amount('Use at the end of the period.')),
    ...{ atEndLow: low, atEndHigh: high },
    tested: s.maybe(TestedForecastsSchema),
  })
  .openapi('Forecast', {
    description: 'When the limit runs out, if each coming day uses the mean of the last four weeks.',
  });

export type ForecastRow = z.infer<typeof ForecastRowSchema>;

const RefusingRowSchema = z
  .object({
    sinceMs: s.instantMs('First of the refusals among the latest fifty rejections. Unix ms.'),
    lastMs: s.instantMs('The last one.'),
    jobs: s.count('Number of the latest rejections that it caused.'),
  })
  .openapi('Refusing', { description: 'It refused jobs within the last hour, without a gap of an hour.' });

const AlertRowSchema = z
  .object({
    level: s.text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
    measure: s.oneOf(
      ALERT_MEASURES,
      'The amount that reached the level: spent, spent and held, or forecast.',
    ),
    levelAmount: s.amount(),
    limitAmount: s.amount(),
    recipient: s.text('The recipient, as the limits named it then.'),
    channels: s.list(
      z.object({
        channel: s.oneOf(ALERT_CHANNELS, '`topic`: mail, and all subscribers of the deployment’s topic.'),
        outcome: z.enum(['taken', 'failed']),
        atMs: s.instantMs('When the channel accepted the message, or first failed. Unix ms.'),
      }),
    ),
  })
  .openapi('Alert');

export type AlertRow = z.infer<typeof AlertRowSchema>;

const WRITTEN_SCHEMAS = {
  part: () => z.union([z.string(), z.number()]),
  percents: () => s.list(z.union([z.number(), z.string()])),
  word: () => s.text(),
  text: () => s.text(),
  day: () => s.text(),
};

/** The fields of a limit as they were written: a share as `80%`, or whole units. Absent: not written. */
const writtenFields = Object.fromEntries(
  limitFields.flatMap(({ row, type, choices = [], help: description }) => {
    const schema: z.ZodType = type === 'choice' ? z.enum(choices as [string]) : WRITTEN_SCHEMAS[type]();
    return row === undefined ? [] : [[row, s.maybe(schema.openapi({ description }))]];
  }),
) as unknown as {
  readonly [Row in keyof WrittenLimit]-?: z.ZodOptional<z.ZodType<NonNullable<WrittenLimit[Row]>>>;
};

export const LimitRowSchema = z
  .object({
    subject: s.subject(),
    each: s.maybe(s.oneOf(CAP_KINDS), 'A cap: each of these has its own counter, so the row has no figures.'),
    id: s.text('Unique on its subject: `money-month`.'),
    kind: limitKind,
    unit,
    amount: s.limitAmount('In force: with carried amounts and grants.'),
    baseAmount: s.limitAmount('As it was written.'),
    granted: s.amount('Part of `amount`: grants in force.'),
    carried: s.amount('From the period before; below 0: overdrawn.'),
    softAmount: s.maybe(s.amount('Amount from which the owner is warned.')),
    thresholds: s.maybe(
      s.list(
        z.object({
          name: s.text('`90 %`, `soft`, `overdraft` or `forecast 100 %`.'),
          amount: s.amount('The smallest use that reaches it.'),
          reached: z.boolean(),
        }),
      ),
      'Levels of alerts, lowest first.',
    ),
    alerts: s.maybe(
      s.list(AlertRowSchema),
      'Alerts of this period and amount, latest first. Absent: not recorded.',
    ),
    borrowed: s.maybe(s.amount('Used above its own amount, from other limits of the cohort.')),
    shared: s.maybe(
      z.object({
        amount: s.amount('Total that the limits of the cohort lend.'),
        used: s.amount('Part of it in use.'),
        mayBorrow: s.amount('Amount by which this limit may be exceeded.'),
      }),
      'Shared by the cohort now.',
    ),
    per: s.maybe(periodKind),
    period: s.maybe(PeriodRowSchema),
    zone: s.text('IANA zone of the period and of its dates.'),
    mode,
    rolledOutAs: s.maybe(mode, 'The rollout of the group makes it milder than `mode`.'),
    settled: s.maybe(
      s.amount(
        'Final. 0 for concurrent jobs. Without a counter (unlimited, off, caps) all figures are absent.',
      ),
    ),
    held: s.maybe(s.amount('Held by jobs that run or wait.')),
    fitted: s.maybe(s.amount('The part of settled and held that enforcement would have admitted.')),
    left: s.maybe(s.amount('Below 0: exceeded.')),
    percent: s.maybe(s.count('Settled and held, percent of the amount, rounded down: 100 only if used up.')),
    forecast: s.maybe(ForecastRowSchema),
    refusing: s.maybe(RefusingRowSchema, 'It refuses jobs now.'),
    ...writtenFields,
    fromMs: s.maybe(s.instantMs('Unix ms; not in force before.')),
    untilMs: s.maybe(s.instantMs('Unix ms; not in force from then on.')),
    byDefault: s.maybe(s.onlyTrue('A default of all groups like this, not the group’s own.')),
    inForce: s.flag('False: it has not begun or is over. Then only the written amounts count.'),
  })
  .openapi('Limit', { description: 'A limit with its counter.' });

export type LimitRow = z.infer<typeof LimitRowSchema>;

export const DayTotalSchema = z.object({ day: s.day(), total: s.amount() });

export const DayForecastSchema = DayTotalSchema.extend({ low, high });

export const FreezeRowSchema = z
  .object({
    ...{ id: s.text(), reason: s.text(), owner: s.maybe(s.text()), fromMs: s.maybe(s.instantMs()) },
    untilMs: s.maybe(s.instantMs('Unix ms. Absent: until it is lifted.')),
    zone: s.text('IANA zone of its dates.'),
    above: s.maybe(s.text('Path of the group above, or the instance, if the freeze is on that.')),
  })
  .openapi('FreezeState', { description: 'No job of the subject starts.' });

export type FreezeRow = z.infer<typeof FreezeRowSchema>;

export const GrantRowSchema = z
  .object({
    limit: s.text('Id of the limit it adds to.'),
    ...{ unit, amount: s.amount(), fromMs: s.instantMs(), untilMs: s.instantMs() },
    zone: s.text('IANA zone of the limit, and so of these dates.'),
    ...{ id: s.maybe(s.text()), reason: s.text(), ticket: s.maybe(s.text()) },
    state: z.enum(['to_come', 'in_force']),
  })
  .openapi('GrantState');

export type GrantRow = z.infer<typeof GrantRowSchema>;
