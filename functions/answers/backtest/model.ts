import { InvalidEditsSchema } from '../preview/model.ts';
import { count, day, instantMs, list, maybe, orNone, subject, text, z } from '../reading/schema.ts';

const JobsCountedSchema = z.object({
  jobs: count(),
  wouldFail: count('Under the edited limits.'),
  wouldFailNow: count('Under the limits as they are: some jobs were decided by others.'),
  wouldWait: maybe(
    count('Jobs that get their room within the `wait` of an edited limit, and run. Absent: none.'),
  ),
  failed: count('What really happened.'),
  unasked: count(
    'Jobs nobody was asked about (unmetered, bypass): they use up limits and are not judged. No part of `jobs`.',
  ),
});

export type BacktestCounts = z.infer<typeof JobsCountedSchema>;

/** The counted part of a span. */
export const countedSpan = {
  days: count('Days that are to be counted, today included.'),
  daysCounted: count('The first so many of them are counted whole.'),
  fromMs: instantMs('Where they begin, Unix ms.'),
  untilMs: instantMs('Unix ms; the first instant that is not counted. Equal to `fromMs`: nothing is yet.'),
  fromDay: day('The first of the days.'),
  complete: z.boolean().openapi({
    description: 'All of these days are counted. False without `next`: no recent job is known.',
  }),
  jobsRead: count(
    'Records read, of all subjects, since the earliest period began that was open on the first day.',
  ),
  next: maybe(text('The `cursor` of the request that counts on. Absent: there is nothing left to count.')),
};

export type CountedSpan = z.infer<z.ZodObject<typeof countedSpan>>;

const BacktestCountedSchema = z
  .object({
    outcome: z.literal('counted'),
    set: orNone(text('The live one; absent: none was ever made live.')),
    ...countedSpan,
    all: JobsCountedSchema.openapi({ description: 'Jobs of any edited subject, each counted once.' }),
    subjects: list(JobsCountedSchema.extend({ subject: subject(), path: text() })).openapi({
      description: 'One per edited subject, named as in the edits; at most 20.',
    }),
  })
  .openapi('BacktestCounted', {
    description: 'From the jobs’ records, lived again with the limits as they are and with the edit.',
  });

export type BacktestSummary = z.infer<typeof BacktestCountedSchema>;

export const BacktestSchema = z
  .discriminatedUnion('outcome', [InvalidEditsSchema, BacktestCountedSchema])
  .openapi('Backtest');

/** With what a route of its own answers otherwise. */
export const BacktestAnswerSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    BacktestCountedSchema,
    z
      .object({ outcome: z.literal('unknown_subject'), subject: subject() })
      .openapi({ description: 'A subject that is not there, or not theirs to see.' }),
    z
      .object({ outcome: z.literal('too_often'), retryAfterSeconds: count() })
      .openapi({ description: 'It costs many reads: so often a minute and no more.' }),
  ])
  .openapi('BacktestAnswer');

export type BacktestAnswer = z.infer<typeof BacktestAnswerSchema>;
