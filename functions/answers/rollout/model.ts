import { ROLLOUT_STEPS } from '../../../policies/rollout-step.ts';
import { countedSpan } from '../backtest/model.ts';
import { count, day, instantMs, list, maybe, mode, subject, text, z } from '../reading/schema.ts';

export interface RolloutQuery {
  /** Only these. @default the instance, top-level groups, and subjects with their own step */
  readonly subjects?: readonly string[];
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

const step = z.enum(ROLLOUT_STEPS as ['off', 'shadow', 'reported', 'warn', 'enforce']);
export const rolloutClass = z.enum(['cost', 'capacity']);

const RolloutNeedSchema = z.object({
  code: z.enum(['days', 'report', 'coverage', 'would-fail', 'groups']).openapi({
    description:
      'Days with jobs on this step; days since the owner got the report; per cent of jobs that were asked about; per cent of jobs that would have failed, which is to be less; groups without a step of their own, of which there are to be none.',
  }),
  met: z.boolean(),
  has: maybe(z.number()).openapi({ description: 'Absent: not known, or none yet.' }),
  wants: z.number(),
});

const RolloutClassSchema = z
  .object({
    class: rolloutClass.openapi({
      description: 'Of the rules: cost is money and minutes, capacity is jobs at once.',
    }),
    step: step.openapi({ description: '`reported` is shadow whose owner has the shadow report.' }),
    mode: mode.openapi({ description: 'How far rules of this class go for its jobs.' }),
    from: maybe(
      subject(
        'Whose entry says so; absent: nobody’s, and then everything is enforced, or somebody’s above what the viewer sees.',
      ),
    ),
    fromPath: maybe(text()),
    sinceMs: maybe(instantMs('Unix ms; absent: nobody wrote it down.')),
    reportedMs: maybe(instantMs('When the owner last got the shadow report, Unix ms.')),
    next: maybe(step.openapi({ description: 'Absent: it is the last step.' })),
    days: count('Days with jobs since the step began, as far back as `fromDay`.'),
    jobs: count('Jobs of these days.'),
    wouldFail: count(
      'Violations of this class that decisions recorded for these jobs. A job that breaks several rules counts for each.',
    ),
    coveragePercent: maybe(
      z.number().openapi({ description: 'Of the jobs of these days, those that were asked about.' }),
    ),
    needs: list(RolloutNeedSchema).openapi({ description: 'What the next step needs.' }),
  })
  .openapi('RolloutClass');

export type RolloutClassRow = z.infer<typeof RolloutClassSchema>;

const RolloutRowSchema = z
  .object({
    subject: subject('`instance` for what has no step of its own, `group/101`, `project/7`'),
    path: text(),
    classes: list(RolloutClassSchema).openapi({ description: 'Cost, then capacity.' }),
    owner: text('Who gets the report.'),
    contact: maybe(text()),
  })
  .openapi('RolloutRow');

export type RolloutRow = z.infer<typeof RolloutRowSchema>;

export const RolloutViewSchema = z
  .object({
    set: maybe(text('The live set of limits; absent: none was ever live.')),
    nowMs: instantMs(),
    fromDay: day('The first day that was looked at.'),
    toDay: day('The last.'),
    needs: z
      .object({ days: count(), reportDays: count(), coveragePercent: count(), wouldFailPercent: count() })
      .openapi({ description: 'What the policy asks for: its `rollout`.' }),
    rows: list(RolloutRowSchema),
    next: maybe(text('The `cursor` of the page after it.')),
    total: count(),
  })
  .openapi('Rollout');

export type RolloutView = z.infer<typeof RolloutViewSchema>;

const RolloutJobSchema = z.object({
  jobId: count(),
  atMs: instantMs(),
  projectPath: maybe(text()),
  url: maybe(text('Its page in GitLab, where that is known.')),
});

export const RolloutForecastSchema = z
  .object({
    outcome: z.literal('counted'),
    ...countedSpan,
    jobs: count('Jobs of these subjects that were asked about.'),
    wouldFail: count('Of these, those that run as it is and would fail if it were enforced.'),
    rows: list(
      z.object({
        group: maybe(subject('Absent: not known.')),
        path: text(),
        rule: text(),
        limit: maybe(text('`group/101 money-month`; absent for rules without a limit.')),
        limitLabel: maybe(text('The same for people: `acme/payments money-month`.')),
        code: text('`BUDGET_EXHAUSTED` …'),
        jobs: count('A job counts in each row that has something against it.'),
        examples: list(RolloutJobSchema).openapi({ description: 'The latest, newest first.' }),
      }),
    ).openapi({ description: 'Most jobs first; at most 50.' }),
  })
  .openapi('RolloutForecast', {
    description: 'If it were enforced now: these jobs of the last days would have failed.',
  });

export type RolloutForecast = z.infer<typeof RolloutForecastSchema>;

export type RolloutForecastAnswer =
  | RolloutForecast
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  | { readonly outcome: 'too_often'; readonly retryAfterSeconds: number };

const RolloutStepTakenSchema = z.object({
  subject: subject(),
  path: text(),
  class: rolloutClass,
  from: step,
  to: step,
  unmet: list(text()).openapi({ description: 'What was missing, and forced.' }),
});

export type RolloutStepRow = z.infer<typeof RolloutStepTakenSchema>;

export const RolloutMovedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: maybe(text('What is live now.')),
    edit: maybe(count('The number of this edit.')),
    moved: list(RolloutStepTakenSchema),
    held: list(RolloutRowSchema).openapi({ description: 'Those that stay, because something is missing.' }),
  })
  .openapi('RolloutMoved');

export type RolloutMovedView = z.infer<typeof RolloutMovedSchema>;

export const RolloutReportedSchema = z
  .object({
    reports: list(
      z.object({
        subject: subject(),
        path: text(),
        owner: text(),
        contact: maybe(text()),
        outcome: z.enum(['sent', 'told-before', 'told-otherwise', 'no-way']).openapi({
          description:
            'Sent; sent within the last hour by somebody else; told by whoever asks, who says so; nothing was sent, because no topic of owners is known.',
        }),
        title: text(),
        text: text(),
      }),
    ),
    edit: maybe(count('The edit that wrote it down; absent: nothing was to be.')),
  })
  .openapi('RolloutReported');

export type RolloutReportedView = z.infer<typeof RolloutReportedSchema>;
