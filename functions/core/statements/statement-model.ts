/** Closed months and changes of prices, for the table and for the API. Programs without an API import types only. */
import { count, instantMs, list, maybe, micros, text, z } from '../schema.ts';

export const month = text('`2026-10`; `2026-10@06` begins on the 6th.');
export const zone = text('IANA zone of the deployment’s accounting, and so of days and months.');
export const instance = text('The GitLab of the jobs, a host.');

export const ClosedStatementSchema = z
  .object({
    number: count('1, 2, 3 … of the instance, without gaps.'),
    subject: text('`group/101` or `instance`.'),
    group: text('Its path on the day of the closing.'),
    ...{ month, zone, startMs: instantMs(), endMs: instantMs(), closedAtMs: instantMs(), instance },
    currency: text('ISO 4217.'),
    priceVersions: list(z.string(), 'Price lists in force in the month.'),
    usageZone: maybe(text('IANA zone of the days, if an older version took the month from a limit.')),
    lines: list(
      z.object({ day: text(), jobs: count('Jobs that ran.'), seconds: z.number(), micros: micros() }),
    ),
    adjustments: list(
      z.object({
        month: text('The adjusted month.'),
        number: count('Its statement.'),
        jobs: count('Additional jobs.'),
        corrections: count(),
        seconds: z.number(),
        micros: micros(),
      }),
      'Changes of earlier months after they were closed.',
    ),
    totals: z.object({
      jobs: count(),
      corrections: count('Corrections in the lines.'),
      seconds: z.number(),
      micros: micros('Sum of the lines.'),
      adjustmentMicros: micros(),
      dueMicros: micros('Sum of both: the amount due.'),
    }),
    previousSha256: text('Hash of the group’s previous statement; empty for its first.'),
    sha256: text('Of the statement without this field, as JSON without spaces, keys in alphabetical order.'),
  })
  .openapi('ClosedStatement', { description: 'A closed month of a group; it never changes.' });

/** Amounts are millionths of the currency, instants Unix ms. */
export type ClosedStatement = Omit<z.infer<typeof ClosedStatementSchema>, 'sha256'>;
export type ClosedAdjustment = ClosedStatement['adjustments'][number];

export const PriceChangeSchema = z.object({
  number: count('1, 2, 3 …, without gaps.'),
  seenAtMs: instantMs('When these prices were first seen deployed. Unix ms.'),
  policyVersion: text(),
  editionSha256: text('Hash of the text of the prices.'),
  previousSha256: text('Hash of the previous change; empty for the first.'),
});
export type PriceChange = z.infer<typeof PriceChangeSchema>;
