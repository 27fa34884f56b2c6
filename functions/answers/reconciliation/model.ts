import { count, instantMs, list, maybe, subject, text, z } from '../reading/schema.ts';

export const ReconciliationSchema = z
  .object({
    state: z.enum(['agrees', 'differs', 'unchecked']).openapi({
      description:
        '`agrees`: every counter shows what the jobs make that statements are made of. `unchecked`: nobody has recounted yet.',
    }),
    checkedAtMs: maybe(instantMs('Unix ms; when the recount of all jobs began.')),
    differing: list(
      z.object({
        subject: subject(),
        path: text('Of a group or project; else the subject.'),
        limit: text('The limit’s id.'),
        period: text('`2026-11`'),
        beyond: z.int().openapi({
          description: 'What the counter has beyond its jobs, whole units of the limit; below 0 it lacks it.',
        }),
      }),
    ).openapi({ description: 'Those the reader sees, at most 20.' }),
    unlisted: count('How many more differ.'),
    usage: maybe(
      z.object({
        jobs: count('Jobs of the last days that were compared.'),
        mended: count('Of these, jobs that usage lacked or had otherwise, and has now.'),
        failed: count('Of these, jobs that could not be looked at.'),
      }),
    ).openapi({ description: 'Of the whole GitLab, for those who see it all.' }),
    text: text('For people: one sentence or two, with times in the deployment’s zone.'),
  })
  .openapi('Reconciliation', {
    description: 'Whether counters and statements agree, and when that was checked.',
  });

export type Reconciliation = z.infer<typeof ReconciliationSchema>;
