import { count, instantMs, list, maybe, micros, text, z } from '../reading/schema.ts';

const ClosedStatementSchema = z
  .object({
    number: count('1, 2, 3 … of the instance; none is left out.'),
    subject: text('`group/101` or `instance`.'),
    group: text('Its path on the day of the closing.'),
    month: text('`2026-10`; `2026-10@06` begins on the 6th.'),
    zone: text('IANA zone of the deployment’s accounting, in which the month and its days begin and end.'),
    startMs: instantMs(),
    endMs: instantMs('Unix ms; the first instant that is no part of it.'),
    closedAtMs: instantMs(),
    instance: text('The GitLab the jobs ran on, a host.'),
    currency: text('ISO 4217.'),
    priceVersions: list(z.string()).openapi({ description: 'Price lists that were in force in the month.' }),
    usageZone: maybe(text('IANA zone of the days, where an older version took the month from a limit.')),
    lines: list(
      z.object({ day: text(), jobs: count('Jobs that ran.'), seconds: z.number(), micros: micros() }),
    ),
    adjustments: list(
      z.object({
        month: text('The closed month it is about.'),
        number: count('Of the statement that did not have it.'),
        jobs: count('Jobs beyond those of the closed statement.'),
        corrections: count('Corrections of jobs.'),
        seconds: z.number(),
        micros: micros(),
      }),
    ).openapi({ description: 'What turned out about earlier months after they were closed.' }),
    totals: z.object({
      jobs: count(),
      corrections: count('Corrections that are in the lines.'),
      seconds: z.number(),
      micros: micros('The sum of the lines.'),
      adjustmentMicros: micros(),
      dueMicros: micros('The sum of both: what is to be paid.'),
    }),
    previousSha256: text('Of the group’s month before; empty for its first.'),
    sha256: text(
      'Of the statement without this field, as JSON without spaces and with names in alphabetical order.',
    ),
  })
  .openapi('ClosedStatement', { description: 'A month of a group as it was closed; it never changes.' });

export const ClosedMonthsSchema = z
  .object({
    group: text(),
    statements: list(ClosedStatementSchema).openapi({ description: 'By month.' }),
    broken: maybe(
      z.object({
        month: text(),
        number: count(),
        cause: z.enum(['text', 'link']).openapi({
          description:
            '`text`: the text is not the one that was hashed. `link`: the month before is another or is gone.',
        }),
      }),
    ).openapi({ description: 'The first statement that is not as it was written. Absent: all are.' }),
  })
  .openapi('ClosedMonths', { description: 'The closed months of a group, checked.' });

export const StatementNumbersSchema = z
  .object({
    numbers: list(
      z
        .object({
          number: count(),
          subject: text(),
          group: maybe(text('Its path now. Absent: it is gone, or it is the whole GitLab.')),
          month: text(),
          sha256: text(),
        })
        .openapi('StatementNumber'),
    ),
    last: count('The last number that was given.'),
    next: maybe(count('Where the next page begins. Absent: this was the last one.')),
  })
  .openapi('StatementNumbers', { description: 'Which statement has which number.' });

export type ClosedMonths = z.infer<typeof ClosedMonthsSchema>;
export type StatementNumbers = z.infer<typeof StatementNumbersSchema>;
