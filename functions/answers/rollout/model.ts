import { ROLLOUT_STEPS } from '../../../policies/rollout-step.ts';
import * as s from '../../core/schema.ts';
import { mode, z } from '../../core/schema.ts';
import { type CoverageQuery, jobsByRule, type OverviewQuery } from '../groups/model.ts';
import { countedSpan } from '../limits/models.ts';
import { LimitRowSchema } from '../status/model.ts';

export interface RolloutQuery extends Pick<OverviewQuery, 'cursor' | 'max'> {
  readonly subjects?: readonly string[];
}

const step = z.enum(ROLLOUT_STEPS as ['off', 'shadow', 'reported', 'warn', 'enforce']);
export const rolloutClass = z.enum(['cost', 'capacity']);

const RolloutNeedSchema = z.object({
  code: s.oneOf(
    ['days', 'report', 'coverage', 'would-fail', 'groups'],
    'Days with jobs on this step; days since the owner’s report; percent of jobs with an admission request; maximum percent of jobs that would have failed; groups without their own step (0 allowed).',
  ),
  met: z.boolean(),
  has: s.maybe(z.number(), 'Absent: unknown, or none yet.'),
  wants: z.number(),
});

const RolloutClassSchema = z
  .object({
    class: rolloutClass.openapi({ description: 'Cost is money and minutes, capacity concurrent jobs.' }),
    step: step.openapi({ description: '`reported`: shadow, and the owner has the shadow report.' }),
    mode: mode.openapi({ description: 'Mode of rules of this class for its jobs.' }),
    from: s.maybe(s.subject('Subject whose entry decides. Absent: none (enforced), or not visible.')),
    fromPath: s.maybe(s.text()),
    sinceMs: s.maybe(s.instantMs('Unix ms; absent: not recorded.')),
    reportedMs: s.maybe(s.instantMs('When the owner last got the shadow report, Unix ms.')),
    next: s.maybe(step.openapi({ description: 'Absent: it is the last step.' })),
    days: s.count('Days with jobs since the step began, at most back to `fromDay`.'),
    jobs: s.count('Jobs of these days.'),
    wouldFail: s.count('Recorded violations of this class on these days; a job counts for each rule.'),
    coveragePercent: s.maybe(z.number(), 'Percent of the jobs of these days with an admission request.'),
    needs: s.list(RolloutNeedSchema, 'Requirements of the next step.'),
  })
  .openapi('RolloutClass');

export type RolloutClassRow = z.infer<typeof RolloutClassSchema>;

const RolloutRowSchema = z
  .object({
    subject: s.subject('`instance` for all without their own step, `group/101`, `project/7`'),
    path: s.text(),
    classes: s.list(RolloutClassSchema, 'Cost, then capacity.'),
    owner: s.text('Recipient of the report.'),
    contact: s.maybe(s.text()),
  })
  .openapi('RolloutRow');

export type RolloutRow = z.infer<typeof RolloutRowSchema>;

export const RolloutViewSchema = z
  .object({
    set: s.maybe(s.text('The live set of limits; absent: none was ever live.')),
    nowMs: s.instantMs(),
    ...{ fromDay: s.day('First day.'), toDay: s.day('Last day.') },
    rows: s.list(RolloutRowSchema),
    next: s.maybe(s.text('`cursor` of the next page.')),
    total: s.count(),
  })
  .openapi('Rollout');

export type RolloutView = z.infer<typeof RolloutViewSchema>;

export const RolloutForecastSchema = z
  .object({
    outcome: z.literal('counted'),
    ...countedSpan,
    jobs: s.count('Jobs of these subjects with an admission request.'),
    wouldFail: s.count('Jobs that ran, and would fail under enforcement.'),
    rows: s.list(
      z.object({
        group: s.maybe(s.subject('Absent: unknown.')),
        path: s.text(),
        rule: s.text(),
        limit: s.maybe(s.text('`group/101 money-month`; absent for rules without a limit.')),
        limitLabel: s.maybe(s.text('The same for people: `acme/payments money-month`.')),
        code: s.text('`BUDGET_EXHAUSTED` …'),
        jobs: s.count('A job counts in each row with a violation.'),
        examples: s.list(
          z.object({
            ...{ jobId: s.count(), atMs: s.instantMs(), projectPath: s.maybe(s.text()) },
            url: s.maybe(s.text('Its page in GitLab, if the address is known.')),
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
  ...{ subject: s.subject(), path: s.text(), class: rolloutClass, from: step, to: step },
  unmet: s.list(s.text(), 'Requirements that were missing, and overridden.'),
});

export type RolloutStepRow = z.infer<typeof RolloutStepTakenSchema>;

export const RolloutMovedSchema = z
  .object({
    outcome: z.enum(['live', 'unchanged']),
    set: s.maybe(s.text('The live set.')),
    edit: s.maybe(s.count('Number of this edit.')),
    moved: s.list(RolloutStepTakenSchema),
    held: s.list(RolloutRowSchema, 'Rows that stay because a requirement is missing.'),
  })
  .openapi('RolloutMoved');

export type RolloutMovedView = z.infer<typeof RolloutMovedSchema>;

export const RolloutReportedSchema = z
  .object({
    reports: s.list(
      z.object({
        ...{ subject: s.subject(), path: s.text(), owner: s.text(), contact: s.maybe(s.text()) },
        outcome: s.oneOf(
          ['sent', 'sent-before', 'informed', 'no-topic'],
          'Sent; already sent within the last hour; informed by the caller; not sent, because no topic for owners is known.',
        ),
        ...{ title: s.text(), text: s.text() },
      }),
    ),
    edit: s.maybe(s.count('The edit that records it; absent: nothing to record.')),
  })
  .openapi('RolloutReported');

export type RolloutReportedView = z.infer<typeof RolloutReportedSchema>;

export interface ShadowQuery extends CoverageQuery {
  readonly project?: number;
}

const ShadowRowSchema = z
  .object({
    subject: s.subject(),
    path: s.text(),
    jobs: s.count('All jobs of these days.'),
    ranRejected: s.count('Jobs that were rejected and ran nevertheless, in dry run or without a request.'),
    ranRejectedBy: jobsByRule('The same by rule, most first; a job counts under each rule.'),
    wouldFail: jobsByRule('By rules and limits in mode shadow or warn, most first; a job counts under each.'),
    limits: s.list(
      z.object({
        limit: LimitRowSchema,
        refusedAmount: s.amount('The part of this period’s use that enforcement would have refused.'),
      }),
      'Its limits in mode shadow or warn.',
    ),
    ...{ owner: s.maybe(s.text()), contact: s.maybe(s.text()) },
  })
  .openapi('ShadowRow');

export type ShadowRow = z.infer<typeof ShadowRowSchema>;

export const ShadowViewSchema = z
  .object({
    currency: s.text('ISO 4217.'),
    nowMs: s.instantMs(),
    ...{ fromDay: s.day('First day.'), toDay: s.day('Last day.') },
    rows: s.list(ShadowRowSchema),
    next: s.maybe(s.text('`cursor` of the next page.')),
    total: s.count('Subjects on all pages.'),
  })
  .openapi('Shadow');

export type ShadowView = z.infer<typeof ShadowViewSchema>;
