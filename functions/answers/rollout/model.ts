import { ROLLOUT_STEPS } from '../../../policies/rollout-step.ts';
import {
  amount,
  count,
  day,
  instantMs,
  list,
  maybe,
  mode,
  oneOf,
  subject,
  text,
  z,
} from '../../core/schema.ts';
import { type CoverageQuery, jobsByRule, type OverviewQuery } from '../groups/model.ts';
import { countedSpan } from '../limits/models.ts';
import { LimitRowSchema } from '../status/model.ts';

export interface RolloutQuery extends Pick<OverviewQuery, 'cursor' | 'max'> {
  readonly subjects?: readonly string[];
}

const step = z.enum(ROLLOUT_STEPS as ['off', 'shadow', 'reported', 'warn', 'enforce']);
export const rolloutClass = z.enum(['cost', 'capacity']);

const RolloutNeedSchema = z.object({
  code: oneOf(
    ['days', 'report', 'coverage', 'would-fail', 'groups'],
    'Days with jobs on this step; days since the owner’s report; percent of jobs with an admission request; maximum percent of jobs that would have failed; groups without their own step (0 allowed).',
  ),
  met: z.boolean(),
  has: maybe(z.number(), 'Absent: unknown, or none yet.'),
  wants: z.number(),
});

const RolloutClassSchema = z
  .object({
    class: rolloutClass.openapi({ description: 'Cost is money and minutes, capacity jobs at once.' }),
    step: step.openapi({ description: '`reported`: shadow, and the owner has the shadow report.' }),
    mode: mode.openapi({ description: 'Mode of rules of this class for its jobs.' }),
    from: maybe(subject('Subject whose entry decides. Absent: none (enforced), or not visible.')),
    fromPath: maybe(text()),
    sinceMs: maybe(instantMs('Unix ms; absent: not recorded.')),
    reportedMs: maybe(instantMs('When the owner last got the shadow report, Unix ms.')),
    next: maybe(step.openapi({ description: 'Absent: it is the last step.' })),
    days: count('Days with jobs since the step began, at most back to `fromDay`.'),
    jobs: count('Jobs of these days.'),
    wouldFail: count('Recorded violations of this class on these days; a job counts for each rule.'),
    coveragePercent: maybe(z.number(), 'Percent of the jobs of these days with an admission request.'),
    needs: list(RolloutNeedSchema, 'Requirements of the next step.'),
  })
  .openapi('RolloutClass');

export type RolloutClassRow = z.infer<typeof RolloutClassSchema>;

const RolloutRowSchema = z
  .object({
    subject: subject('`instance` for all without their own step, `group/101`, `project/7`'),
    path: text(),
    classes: list(RolloutClassSchema, 'Cost, then capacity.'),
    owner: text('Recipient of the report.'),
    contact: maybe(text()),
  })
  .openapi('RolloutRow');

export type RolloutRow = z.infer<typeof RolloutRowSchema>;

export const RolloutViewSchema = z
  .object({
    set: maybe(text('The live set of limits; absent: none was ever live.')),
    nowMs: instantMs(),
    ...{ fromDay: day('First day.'), toDay: day('Last day.') },
    rows: list(RolloutRowSchema),
    next: maybe(text('`cursor` of the next page.')),
    total: count(),
  })
  .openapi('Rollout');

export type RolloutView = z.infer<typeof RolloutViewSchema>;

export const RolloutForecastSchema = z
  .object({
    outcome: z.literal('counted'),
    ...countedSpan,
    jobs: count('Jobs of these subjects with an admission request.'),
    wouldFail: count('Part of them: run as it is, and would fail if it were enforced.'),
    rows: list(
      z.object({
        group: maybe(subject('Absent: unknown.')),
        path: text(),
        rule: text(),
        limit: maybe(text('`group/101 money-month`; absent for rules without a limit.')),
        limitLabel: maybe(text('The same for people: `acme/payments money-month`.')),
        code: text('`BUDGET_EXHAUSTED` …'),
        jobs: count('A job counts in each row with a violation.'),
        examples: list(
          z.object({
            ...{ jobId: count(), atMs: instantMs(), projectPath: maybe(text()) },
            url: maybe(text('Its page in GitLab, if the address is known.')),
          }),
          'The latest, newest first.',
        ),
      }),
      'Most jobs first; at most 50.',
    ),
  })
  .openapi('RolloutForecast');

export type RolloutForecast = z.infer<typeof RolloutForecastSchema>;

export type RolloutForecastAnswer =
  | RolloutForecast
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  | { readonly outcome: 'too_often'; readonly retryAfterSeconds: number };

const RolloutStepTakenSchema = z.object({
  ...{ subject: subject(), path: text(), class: rolloutClass, from: step, to: step },
  unmet: list(text(), 'Requirements that were missing, and overridden.'),
});

export type RolloutStepRow = z.infer<typeof RolloutStepTakenSchema>;

export const RolloutMovedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: maybe(text('The live set.')),
    edit: maybe(count('Number of this edit.')),
    moved: list(RolloutStepTakenSchema),
    held: list(RolloutRowSchema, 'Rows that stay because a requirement is missing.'),
  })
  .openapi('RolloutMoved');

export type RolloutMovedView = z.infer<typeof RolloutMovedSchema>;

export const RolloutReportedSchema = z
  .object({
    reports: list(
      z.object({
        ...{ subject: subject(), path: text(), owner: text(), contact: maybe(text()) },
        outcome: oneOf(
          ['sent', 'told-before', 'told-otherwise', 'no-way'],
          'Sent; already sent within the last hour; informed by the caller; not sent, because no topic for owners is known.',
        ),
        ...{ title: text(), text: text() },
      }),
    ),
    edit: maybe(count('The edit that records it; absent: nothing to record.')),
  })
  .openapi('RolloutReported');

export type RolloutReportedView = z.infer<typeof RolloutReportedSchema>;

export interface ShadowQuery extends CoverageQuery {
  readonly project?: number;
}

const ShadowRowSchema = z
  .object({
    subject: subject(),
    path: text(),
    jobs: count('All jobs of these days.'),
    ranRejected: count('Jobs that were rejected and ran nevertheless, in dry run or without a request.'),
    ranRejectedBy: jobsByRule('The same by rule, most first; a job counts under each rule.'),
    wouldFail: jobsByRule('By rules and limits in mode shadow or warn, most first; a job counts under each.'),
    limits: list(
      z.object({
        limit: LimitRowSchema,
        refusedAmount: amount('The part of this period’s use that enforcement would have refused.'),
      }),
      'Its limits in mode shadow or warn.',
    ),
    ...{ owner: maybe(text()), contact: maybe(text()) },
  })
  .openapi('ShadowRow');

export type ShadowRow = z.infer<typeof ShadowRowSchema>;

export const ShadowViewSchema = z
  .object({
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    ...{ fromDay: day('First day.'), toDay: day('Last day.') },
    rows: list(ShadowRowSchema),
    next: maybe(text('`cursor` of the next page.')),
    total: count('Subjects on all pages.'),
  })
  .openapi('Shadow');

export type ShadowView = z.infer<typeof ShadowViewSchema>;
