import { OUTAGE_POLICIES } from '../../../policies/limits/limit.ts';
import {
  amount,
  count,
  flag,
  instantMs,
  limitAmount,
  list,
  maybe,
  micros,
  mode,
  oneOf,
  subject,
  text,
  unit,
  z,
} from '../../core/schema.ts';

const terms = {
  ...{ runnerClass: text(), estimateSeconds: amount(), costMicros: micros(), microsPerMinute: micros() },
  ...{ priceVersion: text(), policyVersion: text() },
};
const outcome = z.enum(['admitted', 'rejected']);
const placeLabel = text('Path of the group or project, or the subject itself.');

const ViolationLineSchema = z
  .object({
    mode,
    code: text('For programs.'),
    text: text('One line; without the numbers of another group’s limit that are not disclosed.'),
  })
  .openapi('Violation');

export type DisclosedViolation = z.infer<typeof ViolationLineSchema>;

const ReasonLineSchema = z.object({ rule: text(), ...ViolationLineSchema.shape }).openapi('DecisionReason');

const ruleNow = z.object({
  outcome: z.enum(['off', 'not matched', 'matched', 'missing', 'exempt', 'failed']),
  detail: maybe(text('The condition, exemption, failure or missing field.')),
  violations: list(ViolationLineSchema),
});

const RuleNowSchema = z.object({ id: text(), kind: text(), mode, now: ruleNow }).openapi('AskedRule');

export type RuleNowRow = z.infer<typeof RuleNowSchema>;

const RuleRowSchema = z
  .object({
    ...{ id: text(), kind: maybe(text()), mode: maybe(text()) },
    atDecision: list(ViolationLineSchema, 'Its violations at the decision.'),
    now: maybe(ruleNow, 'Absent: not evaluated again, for the reason in `whyNot`.'),
    whyNot: maybe(text()),
  })
  .openapi('ExplainedRule');

export type ExplainedRuleRow = z.infer<typeof RuleRowSchema>;

const CounterSchema = z
  .object({
    ...{ subject: subject(), label: placeLabel, limit: text('Its id.') },
    ...{ period: text('`2026-11`'), unit },
    atDecision: maybe(
      z.object({
        jobHeld: amount('Held by the job; 0 if it was rejected.'),
        jobCounts: amount('Charged for the job now, with corrections.'),
        checked: flag('False: it took its amount without asking.'),
        seen: maybe(
          z.object({ committed: amount(), bound: amount(), left: amount(), asked: amount() }),
          'State of a counter that refused; other states are not stored.',
        ),
      }),
      'Absent: the job did not claim it then.',
    ),
    now: z.object({
      ...{ settled: amount(), held: amount() },
      bound: maybe(limitAmount('Absent: the limit does not exist any more.')),
      ...{ left: maybe(amount()), mode: maybe(mode) },
      wait: maybe(text('Longest wait for headroom, as `20s`.')),
      whenUnreachable: maybe(oneOf(OUTAGE_POLICIES), 'Absent: that of its rule or kind.'),
    }),
  })
  .openapi('ExplainedCounter');

export type ExplainedCounter = z.infer<typeof CounterSchema>;

const RejectionSchema = z
  .object({
    says: text('The main reason in one sentence; without numbers that are not disclosed.'),
    others: list(z.string(), 'Other reasons, one line each.'),
    advice: list(z.string(), 'Advice of its message, for reasons other than budgets.'),
    renewsAtMs: maybe(instantMs('Start of the limit’s next period, Unix ms.')),
    owner: maybe(z.object({ name: text(), contact: maybe(text()) }), 'Owner of the limit.'),
    classes: list(
      z.object({
        ...{ runnerClass: text(), costMicros: micros() },
        tags: list(z.string(), 'Tags to write under `tags:`.'),
      }),
      'Cheaper classes with which it would be admitted now, cheapest first.',
    ),
    request: maybe(
      z.object({
        ...{ subject: subject(), label: placeLabel, limit: text('Its id.'), unit },
        amount: text('The missing amount, as a grant is written: `0.50`.'),
        fromDay: text('`2026-11-21`'),
        untilDay: text('The last day: the end of the period.'),
      }),
      'A grant that would admit it, if the caller may request one.',
    ),
  })
  .openapi('Rejection');

export type JobRejection = z.infer<typeof RejectionSchema>;

const RetrySchema = z
  .object({
    state: oneOf(
      ['waiting', 'retried', 'over'],
      'It waits for room; GitLab made another job of it; or it is not retried (again).',
    ),
    groupId: count('The group that enabled retries.'),
    retries: count('Retries so far, this one included.'),
    ...{ retriesMax: count(), untilMs: instantMs() },
    newJobId: maybe(count('The job that GitLab made of it.')),
    retriedAtMs: maybe(instantMs()),
    became: maybe(
      z.enum(['unasked', 'kept', 'admitted', 'ran', 'rejected', 'gone']),
      'State of the new job. `kept`: room is reserved until its admission request.',
    ),
    why: maybe(text('Why it is not retried, or still waits after a try.')),
  })
  .openapi('Retry');

export type JobRetry = z.infer<typeof RetrySchema>;

const waitSeconds = maybe(amount('Wait for headroom before that.'));

export const ExplainedSchema = z
  .object({
    jobId: count(),
    decisionId: text('`d-4711-1`'),
    decidedAtMs: instantMs(),
    outcome,
    state: z.enum(['HELD', 'RUNNING', 'SETTLED', 'RELEASED', 'EXPIRED', 'REJECTED', 'RESERVED']),
    answered: oneOf(['ledger', 'fallback', 'unknown'], 'Origin of the response to GitLab.'),
    unchecked: maybe(oneOf(['exempt', 'unmetered', 'bypass'], 'Charged without a check, for this reason.')),
    flagged: flag('It was rejected and ran nevertheless.'),
    ...{ dueAtMs: maybe(instantMs()), endedAtMs: maybe(instantMs()), durationSeconds: maybe(amount()) },
    job: z.object({
      ...{ name: maybe(text()), projectPath: maybe(text()), projectId: maybe(count()) },
      ...{ groupId: maybe(count()), pipelineId: maybe(count()) },
      url: maybe(text('Its page in GitLab, if the address is known.')),
    }),
    currency: text('ISO 4217.'),
    atDecision: z.object(terms),
    now: maybe(
      z.object({
        ...{ ...terms, outcome, waitSeconds },
        reasons: list(ReasonLineSchema, 'Reasons against it now, including those in mode shadow or warn.'),
      }),
      'The decision as of now. Absent: the request was not recorded.',
    ),
    rules: list(RuleRowSchema),
    counters: list(CounterSchema, 'Only those of subjects that the caller sees.'),
    countersHidden: count('Counters of other subjects, left out.'),
    rejection: maybe(RejectionSchema, 'Absent: it was not rejected.'),
    retry: maybe(RetrySchema, 'If only room was missing, and its group enabled retries.'),
    rejectionText: maybe(text('As on the job page, with today’s footers and disclosure.')),
  })
  .openapi('Explanation');

export type JobExplanation = z.infer<typeof ExplainedSchema>;
export type ExplainedTerms = JobExplanation['atDecision'];

export type JobAnswer =
  | { readonly outcome: 'found'; readonly explanation: JobExplanation }
  /** `unknown`: no record, expired, another generation, or not visible. `unreadable`: the word names no job. */
  | { readonly outcome: 'unknown' | 'unreadable'; readonly sentence: string };

/** More than the default maximum of jobs in a GitLab pipeline. */
const CHECKED_JOBS_MAX = 1_000;
const NAME_CHARACTERS_MAX = 255;
const IMAGE_CHARACTERS_MAX = 1_024;
const LIST_MAX = 50;
const ID_MAX = 999_999_999_999_999;

const name = z.string().min(1).max(NAME_CHARACTERS_MAX);
const image = z.string().max(IMAGE_CHARACTERS_MAX);
const positive = z.int().positive().max(ID_MAX);
const few = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).max(LIST_MAX).readonly();
const variables = z.record(name, image).refine((all) => Object.keys(all).length <= LIST_MAX, 'too many');
const user = maybe(z.string().max(NAME_CHARACTERS_MAX));
const containers = { pullPolicies: maybe(few(name)), dockerUser: user, kubernetesUser: user };

const AskedPipelineJobSchema = z
  .strictObject({
    name,
    stage: maybe(name, 'Stages run one after the other: amounts that are returned count once.'),
    parallel: maybe(z.int().min(1).max(CHECKED_JOBS_MAX), 'Number of equal jobs.'),
    tags: few(name).openapi({ description: 'Runner tags; empty: untagged.' }),
    image: maybe(image, 'With its variables expanded.'),
    ...containers,
    services: maybe(
      few(z.strictObject({ name: image, alias: maybe(name), ...containers, variables: maybe(variables) })),
    ),
    environment: maybe(name),
    timeoutSeconds: maybe(positive),
    estimateSeconds: maybe(positive, 'Expected duration. Absent: by its last runs and the policy.'),
    variables: maybe(variables, 'Variables that rules may read.'),
    hiddenVariables: maybe(few(name), 'Names of variables with an unknown value.'),
  })
  .openapi('AskedPipelineJob');

export type RequestedPipelineJob = z.infer<typeof AskedPipelineJobSchema>;

export const PipelineInputSchema = z
  .strictObject({
    project: maybe(z.union([positive, name])).openapi({
      description: 'Id or full path. A CI job leaves it out: its own project is used.',
      example: 'acme/payments/checkout',
    }),
    group: maybe(z.union([positive, name]), 'In place of a project, if the project does not matter.'),
    ...{ ref: maybe(name), refProtected: maybe(z.boolean()), pipelineSource: maybe(name) },
    userId: maybe(positive),
    rerun: maybe(positive, 'In place of all other fields: this job again, as it last asked.'),
    jobs: maybe(
      z
        .array(AskedPipelineJobSchema)
        .min(1)
        .max(CHECKED_JOBS_MAX)
        .readonly()
        .refine(
          (jobs) => jobs.reduce((sum, { parallel = 1 }) => sum + parallel, 0) <= CHECKED_JOBS_MAX,
          `more than ${CHECKED_JOBS_MAX} jobs in all`,
        ),
    ),
  })
  .refine(({ jobs, rerun }) => (jobs === undefined) !== (rerun === undefined), 'expected jobs or rerun')
  .openapi('AskedPipeline', { description: 'Expanded jobs of a pipeline, and its ref.' });

export type RequestedPipeline = z.infer<typeof PipelineInputSchema>;

const CheckedJobSchema = z
  .object({
    name: text(),
    parallel: count('Number of equal jobs.'),
    outcome: oneOf(
      ['admitted', 'rejected', 'not sure'],
      'Each as if it came alone. Not sure: a rule needs a field that is missing.',
    ),
    waitSeconds,
    runnerClass: text(),
    estimateSeconds: amount(),
    costMicros: micros('Of one of the jobs, at current prices.'),
    reasons: list(ReasonLineSchema, 'Reasons against it, including those in mode shadow or warn.'),
    rules: maybe(list(RuleNowSchema), 'Every rule of the policy, if there is only one job.'),
    text: maybe(text('Text of its page in GitLab, if there is only one job and it is rejected.')),
  })
  .openapi('CheckedJob');

export type CheckedJobRow = z.infer<typeof CheckedJobSchema>;

const LimitLeftSchema = z
  .object({
    ...{ subject: subject(), label: placeLabel, limit: text('Its id.'), unit, mode },
    asked: amount('Estimate for the whole pipeline; of concurrent jobs, for its largest stage.'),
    jobs: count('Number of jobs that claim it.'),
    amount: amount('In force.'),
    left: amount('Left now. Below 0: exceeded.'),
    fits: flag('Enough is left.'),
    periodLabel: maybe(text('`November 2026`. Absent: a limit of concurrent jobs.')),
    renewsAtMs: maybe(instantMs('Start of its next period, Unix ms.')),
  })
  .openapi('LimitLeft');

export type LimitLeftRow = z.infer<typeof LimitLeftSchema>;

export const CheckedPipelineSchema = z
  .object({
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    place: z.object({ subject: subject(), path: text() }),
    jobs: list(CheckedJobSchema, 'In the order of the request.'),
    total: z.object({ jobs: count(), costMicros: micros(), rejected: count(), notSure: count() }),
    limits: list(LimitLeftSchema, 'Closest first, as far as they are disclosed.'),
    limitsHidden: count('Other limits that these jobs would use.'),
  })
  .openapi('CheckedPipeline');

export type CheckedPipeline = z.infer<typeof CheckedPipelineSchema>;

export type PipelineAnswer =
  | { readonly outcome: 'checked'; readonly pipeline: CheckedPipeline }
  /** `unknown`: project, group or job does not exist, or is not visible. `unrecorded`: the job has no stored request. */
  | { readonly outcome: 'unknown' | 'unrecorded' };
