import { amount, count, instantMs, list, maybe, micros, text, z } from '../reading/schema.ts';

const StatementLineSchema = z
  .object({
    day: text('`2026-10-31`, of the admission, in the statement’s zone.'),
    dayStartMs: instantMs(),
    dayEndMs: instantMs(),
    rootId: maybe(count()),
    rootPath: maybe(text()),
    groupId: maybe(count()),
    groupPath: maybe(text()),
    projectId: maybe(count()),
    projectPath: maybe(text()),
    runnerClass: text(),
    microsPerMinute: micros(),
    priceVersion: text(),
    kind: z.enum(['usage', 'correction']),
    cause: maybe(z.enum(['duration', 'late', 'expired', 'reopened'])),
    late: z.boolean().openapi({
      description:
        'A correction that was written after the month was over: an earlier statement did not have it.',
    }),
    jobs: count(),
    seconds: amount(),
    micros: micros(),
    job: maybe(
      z.object({
        id: count(),
        name: maybe(text()),
        decisionId: text(),
        pipelineId: maybe(count()),
        unchecked: maybe(
          z
            .enum(['exempt', 'unmetered', 'bypass'])
            .openapi({ description: 'Charged without asking, and why.' }),
        ),
        user: maybe(text('Who started it, where that was asked for: an id or a pseudonym.')),
      }),
    ),
  })
  .openapi('StatementLine', {
    description: 'Jobs of one day, project, runner class and price; or one job.',
  });

export const StatementSchema = z
  .object({
    month: text('`2026-10`; `2026-10@06` begins on the 6th.'),
    zone: text('IANA zone of the deployment’s accounting, in which days and months begin and end.'),
    startMs: instantMs('Unix ms.'),
    endMs: instantMs('Unix ms; the first instant that is no part of it.'),
    group: text('Its path, or `all groups`.'),
    currency: text('ISO 4217.'),
    instance: text('The GitLab the jobs ran on, a host.'),
    ledger: text('For people: whose books.'),
    writtenAtMs: instantMs(),
    by: z.enum(['day', 'job']),
    withUsers: maybe(z.literal(true).openapi({ description: 'Lines of jobs say who started them.' })),
    lines: list(StatementLineSchema),
    totals: z.object({
      jobs: count('Jobs that are charged.'),
      seconds: amount(),
      micros: micros(),
      correctedMicros: micros('The part of `micros` that corrections make.'),
      lateMicros: micros('The part of `correctedMicros` that came after the month was over.'),
      openJobs: count(
        'Jobs of the month that are not over: what they hold is in no line. Nobody counts them where lines are days.',
      ),
      heldMicros: micros('Amount that jobs hold which have not ended.'),
    }),
    notes: list(z.string()).openapi({ description: 'What a reader should know before paying it.' }),
  })
  .openapi('Statement', { description: 'What a group and everything below it is charged for a month.' });

export type Statement = z.infer<typeof StatementSchema>;
export type StatementGrain = Statement['by'];
export type StatementLine = z.infer<typeof StatementLineSchema>;
export type StatementTotals = Statement['totals'];

export interface StatementQuery {
  /** `2026-10` */
  readonly month: string;
  /** A group's id or path; `instance`: everything. */
  readonly group: string;
  /** @default `day` */
  readonly by?: StatementGrain;
  /** Lines of jobs say who started them. @default false */
  readonly withUsers?: boolean;
  /** Every line has its project, runner class and price, which days do not have: every job is read for it. @default false */
  readonly withPrices?: boolean;
}

export type StatementAnswer =
  | { readonly outcome: 'stated'; readonly statement: Statement }
  | { readonly outcome: 'unreadable'; readonly asked: 'month'; readonly sentence: string }
  /** Neither the directory nor a job knows the group, or the viewer does not see it. */
  | { readonly outcome: 'unknown_group' }
  /** Jobs are not kept, or not read here: there are lines by day only, without classes and prices. */
  | { readonly outcome: 'only_days' };
