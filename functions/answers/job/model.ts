import { OUTAGE_POLICIES } from '../../../policies/limits/limit.ts';
import {
  amount,
  count,
  instantMs,
  limitAmount,
  list,
  maybe,
  micros,
  mode,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';

const terms = {
  runnerClass: text(),
  estimateSeconds: amount(),
  costMicros: micros(),
  microsPerMinute: micros(),
  priceVersion: text(),
  policyVersion: text(),
};
const outcome = z.enum(['admitted', 'rejected']);

const ViolationLineSchema = z
  .object({
    mode,
    code: text('For programs.'),
    text: text(
      'One line; without numbers where the limit is of somebody else’s group and its numbers are not disclosed.',
    ),
  })
  .openapi('Violation');

export type DisclosedViolation = z.infer<typeof ViolationLineSchema>;

/** A reason against a job, as the decision has it: a limit, a freeze or a rule. */
export const ReasonLineSchema = z
  .object({ rule: text(), ...ViolationLineSchema.shape })
  .openapi('DecisionReason');

const ruleNow = z.object({
  outcome: z.enum(['off', 'not matched', 'matched', 'missing', 'exempt', 'failed']),
  detail: maybe(text('What did not match, why it is exempt, what failed, or what is missing.')),
  violations: list(ViolationLineSchema),
});

/** One rule of the policy, asked about a job now. */
export const RuleNowSchema = z.object({ id: text(), kind: text(), mode, now: ruleNow }).openapi('AskedRule');

export type RuleNowRow = z.infer<typeof RuleNowSchema>;

const RuleRowSchema = z
  .object({
    id: text(),
    kind: maybe(text()),
    mode: maybe(text()),
    atDecision: list(ViolationLineSchema).openapi({ description: 'What it had against the job then.' }),
    now: maybe(ruleNow).openapi({ description: 'Absent: not asked again, `whyNot` says why.' }),
    whyNot: maybe(text()),
  })
  .openapi('ExplainedRule');

export type ExplainedRuleRow = z.infer<typeof RuleRowSchema>;

const CounterSchema = z
  .object({
    subject: subject(),
    label: text('Path of the group or project, or the subject itself.'),
    limit: text('Its id.'),
    period: text('`2026-11`'),
    unit,
    atDecision: maybe(
      z.object({
        jobHeld: amount('What the job held on it; 0 for a rejected one.'),
        jobCounts: amount('What it is charged there now.'),
        checked: z.boolean().openapi({ description: 'False: it took its amount without asking.' }),
        seen: maybe(
          z.object({ committed: amount(), bound: amount(), left: amount(), asked: amount() }),
        ).openapi({ description: 'What the counter showed; only one that refused was written down.' }),
      }),
    ).openapi({ description: 'Absent: the job did not claim it then.' }),
    now: z.object({
      settled: amount(),
      held: amount(),
      bound: maybe(limitAmount('Absent: there is no such limit any more.')),
      left: maybe(amount()),
      mode: maybe(mode),
      wait: maybe(
        text('How long jobs are kept waiting for room, as `20s`. Absent: they are rejected at once.'),
      ),
      whenUnreachable: z.enum(OUTAGE_POLICIES).optional().openapi({
        description: 'What becomes of jobs while it cannot be asked. Absent: as its rule or its kind has it.',
      }),
    }),
  })
  .openapi('ExplainedCounter');

export type ExplainedCounter = z.infer<typeof CounterSchema>;

const RejectionSchema = z
  .object({
    says: text('What stopped it, one sentence; without numbers where they are not disclosed.'),
    others: list(z.string()).openapi({ description: 'What else stopped it, one line each.' }),
    advice: list(z.string()).openapi({
      description: 'What its message advises, of what no budget is about.',
    }),
    renewsAtMs: maybe(instantMs('Unix ms: when the limit that stopped it starts anew.')),
    owner: maybe(z.object({ name: text('As the limits name them.'), contact: maybe(text()) })).openapi({
      description: 'Whom to ask.',
    }),
    classes: list(
      z.object({
        runnerClass: text(),
        tags: list(z.string()).openapi({ description: 'What the job writes under `tags:`.' }),
        microsPerMinute: micros(),
        costMicros: micros(),
      }),
    ).openapi({ description: 'Cheaper ones with which it would be admitted now, cheapest first.' }),
    timeoutSeconds: maybe(
      amount('The longest timeout in whole minutes with which it would be admitted now.'),
    ),
    request: maybe(
      z.object({
        subject: subject(),
        label: text('Path of the group or project.'),
        limit: text('Its id.'),
        unit,
        amount: text('What is missing, as a grant is written: `0.50`.'),
        fromDay: text('`2026-11-21`'),
        untilDay: text('The last day: the end of the period.'),
      }),
    ).openapi({ description: 'A grant that would let it in, where the viewer may ask for one.' }),
  })
  .openapi('Rejection');

export type JobRejection = z.infer<typeof RejectionSchema>;

const RetrySchema = z
  .object({
    state: z.enum(['waiting', 'retried', 'over']).openapi({
      description: 'For room; GitLab made another job of it; it is not retried, or not again.',
    }),
    groupId: count('The group that agreed to it.'),
    retries: count('How often it was retried, this one included.'),
    retriesMax: count(),
    withinSeconds: amount('From its first rejection on.'),
    untilMs: instantMs(),
    newJobId: maybe(count('What GitLab made of it.')),
    retriedAtMs: maybe(instantMs()),
    became: z.enum(['unasked', 'kept', 'admitted', 'ran', 'rejected', 'gone']).optional().openapi({
      description: 'What became of that one. `kept`: room is kept for it until it is asked about.',
    }),
    why: maybe(text('Why it is not retried, or still waits after it was tried.')),
  })
  .openapi('Retry');

export type JobRetry = z.infer<typeof RetrySchema>;

export const waitSeconds = maybe(
  amount('How long it would first be kept waiting for room. Absent: it would not wait.'),
);

/** One decision, limited to what the viewer may see. */
export const ExplainedSchema = z
  .object({
    jobId: count(),
    decisionId: text('`d-4711-1`'),
    decidedAtMs: instantMs(),
    outcome,
    state: z.enum(['HELD', 'RUNNING', 'SETTLED', 'RELEASED', 'EXPIRED', 'REJECTED', 'RESERVED']),
    answered: z.enum(['ledger', 'fallback', 'unknown']).openapi({ description: 'Who answered GitLab.' }),
    unchecked: maybe(
      z.enum(['exempt', 'unmetered', 'bypass']).openapi({ description: 'Charged without asking, and why.' }),
    ),
    flagged: z.boolean().openapi({ description: 'Rejected, and yet it ran.' }),
    dueAtMs: maybe(instantMs()),
    endedAtMs: maybe(instantMs()),
    durationSeconds: maybe(amount()),
    job: z.object({
      name: maybe(text()),
      projectPath: maybe(text()),
      projectId: maybe(count()),
      groupId: maybe(count()),
      pipelineId: maybe(count()),
      url: maybe(text('Its page in GitLab, where the address is known.')),
    }),
    currency: text('ISO 4217.'),
    atDecision: z.object(terms),
    now: maybe(
      z.object({
        ...{ ...terms, outcome, waitSeconds },
        reasons: list(ReasonLineSchema).openapi({
          description: 'What is against it now, also where it only watches.',
        }),
      }),
    ).openapi({ description: 'The decision if it came now. Absent where the question was not recorded.' }),
    limitsVersionNow: text('The set of limits that `now` is by.'),
    rules: list(RuleRowSchema),
    counters: list(CounterSchema).openapi({ description: 'Only those of subjects the viewer sees.' }),
    countersHidden: count('Counters of groups above, or of others, that are left out.'),
    rejection: maybe(RejectionSchema).openapi({ description: 'Absent: it was not rejected.' }),
    retry: maybe(RetrySchema).openapi({
      description:
        'Where it was rejected for lack of room alone, and its group agreed that such jobs are retried.',
    }),
    rejectionText: maybe(text('As the job page showed it, with today’s footers and disclosure.')),
    notRecorded: list(z.string()).openapi({ description: 'What could not be told, one sentence each.' }),
  })
  .openapi('Explanation');

export type JobExplanation = z.infer<typeof ExplainedSchema>;
export type ExplainedTerms = JobExplanation['atDecision'];

export type JobAnswer =
  | { readonly outcome: 'found'; readonly explanation: JobExplanation }
  /** No record, expired, another generation, or not theirs to see. */
  | { readonly outcome: 'unknown'; readonly sentence: string }
  /** `word` names no job. */
  | { readonly outcome: 'unreadable'; readonly sentence: string };
