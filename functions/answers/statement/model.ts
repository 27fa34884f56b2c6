import { amount, count, flag, instantMs, list, maybe, micros, oneOf, text, z } from '../../core/schema.ts';
import {
  ClosedStatementSchema,
  instance,
  month,
  PriceChangeSchema,
  zone,
} from '../../core/statements/statement-model.ts';

const endMs = instantMs('Unix ms; the first instant after it.');

const StatementLineSchema = z
  .object({
    day: text('`2026-10-31`, day of the admission, in the statement’s zone.'),
    ...{ dayStartMs: instantMs(), dayEndMs: instantMs() },
    ...{ rootId: maybe(count()), rootPath: maybe(text()) },
    ...{ groupId: maybe(count()), groupPath: maybe(text()) },
    ...{ projectId: maybe(count()), projectPath: maybe(text()) },
    ...{ runnerClass: text(), microsPerMinute: micros(), priceVersion: text() },
    kind: z.enum(['usage', 'correction']),
    cause: maybe(z.enum(['duration', 'late', 'expired', 'reopened'])),
    late: flag('A correction made after the month was over: an earlier statement did not have it.'),
    ...{ jobs: count(), seconds: amount(), micros: micros() },
    job: maybe(
      z.object({
        ...{ id: count(), name: maybe(text()), decisionId: text(), pipelineId: maybe(count()) },
        unchecked: maybe(
          oneOf(['exempt', 'unmetered', 'bypass'], 'Charged without a check, for this reason.'),
        ),
      }),
    ),
  })
  .openapi('StatementLine', { description: 'Jobs of one day, project, runner class and price; or one job.' });

export const StatementSchema = z
  .object({
    ...{ month, zone, startMs: instantMs(), endMs, instance },
    group: text('Its path, or `all groups`.'),
    currency: text('ISO 4217.'),
    ledger: text('Name of the ledger, for people.'),
    by: z.enum(['day', 'job']),
    lines: list(StatementLineSchema),
    totals: z.object({
      jobs: count('Charged jobs.'),
      seconds: amount(),
      micros: micros(),
      correctedMicros: micros('Part of `micros`: corrections.'),
      lateMicros: micros('Part of `correctedMicros`: corrections made after the month was over.'),
      openJobs: count('Live jobs of the month: what they hold is in no line. 0 where lines are days.'),
      heldMicros: micros('Held by live jobs.'),
    }),
    notes: list(z.string(), 'Notes for the payer.'),
  })
  .openapi('Statement', { description: 'Charge of a group and everything below it for a month.' });

export type Statement = z.infer<typeof StatementSchema>;
export type StatementLine = Statement['lines'][number];

export interface StatementQuery {
  readonly month: string;
  /** A group's id or path; `instance`: everything. */
  readonly group: string;
  readonly by?: Statement['by'];
  /** Every line has its project, runner class and price. Days lack these, so every job is read. @default false */
  readonly withPrices?: boolean;
}

export type StatementAnswer =
  | { readonly outcome: 'stated'; readonly statement: Statement }
  | { readonly outcome: 'unreadable'; readonly asked: 'month'; readonly sentence: string }
  /** Neither the directory nor a job has the group, or it is not visible. */
  | { readonly outcome: 'unknown_group' }
  /** Jobs are not kept, or not read here: only days are available. */
  | { readonly outcome: 'only_days' };

export const ClosedMonthsSchema = z
  .object({
    group: text(),
    statements: list(ClosedStatementSchema, 'By month.'),
    broken: maybe(
      z.object({
        month: text(),
        number: count(),
        cause: oneOf(['text', 'link'], '`link`: the previous month differs or is gone.'),
      }),
      'The first statement that was changed.',
    ),
  })
  .openapi('ClosedMonths');

export const StatementNumbersSchema = z
  .object({
    numbers: list(
      z
        .object({
          number: count(),
          subject: text(),
          group: maybe(text('Its current path. Absent: it is gone, or it is the whole GitLab.')),
          month: text(),
          sha256: text(),
        })
        .openapi('StatementNumber'),
    ),
    last: count('The highest number.'),
    next: maybe(count('First number of the next page.')),
  })
  .openapi('StatementNumbers');

export type ClosedMonths = z.infer<typeof ClosedMonthsSchema>;
export type StatementNumbers = z.infer<typeof StatementNumbersSchema>;

export const DeployedPricesSchema = z
  .object({
    handoverMs: count('Time around a change in which either price may apply: deployments take a while.'),
    changes: list(
      PriceChangeSchema.extend({
        text: text('The hashed text: the five fields above as JSON, in alphabetical order.'),
        sha256: text(),
      }),
      'All changes, in order.',
    ),
    priceTexts: list(
      z.object({ sha256: text(), text: text('`currency` and `prices` of the policy document, as JSON.') }),
      'The prices that applied in the span; lost ones are missing.',
    ),
  })
  .openapi('DeployedPrices');

export type DeployedPrices = z.infer<typeof DeployedPricesSchema>;
