import type { HoldOutcome, HoldRequest, JobFacts } from '../../../functions/core/ledger/ledger.ts';
import type { CounterKey, CounterSnapshot, LimitClaim } from '../../../policies/claim.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';

export const someFacts = (facts: Partial<JobFacts> = {}): JobFacts => ({
  ...{ runnerClass: 'small', estimateSeconds: 600, timeoutSeconds: 3600, costMicros: 1000 },
  ...{ microsPerMinute: 60, priceVersion: 'p1', policyVersion: 'v1' },
  ...facts,
});

/** `group/1` → the counter of that subject's money in November. */
export const counter = (subject: string, limit = 'money-month', period = '2026-11'): CounterKey => ({
  subject,
  limit,
  period,
});

/** A claim of money on a group, enforced, unless told otherwise. No bound: it does not ask. */
export function claim(
  subject: string,
  amount: number,
  bound?: number,
  over: Partial<LimitClaim> = {},
): LimitClaim {
  const key = over.counter ?? counter(subject);
  const unit = over.unit ?? 'micros';
  return {
    ...{ counter: key, unit, amount, mode: 'enforce', rule: 'budget', class: 'cost' },
    ...(bound === undefined ? {} : { bound }),
    refusal: (seen: CounterSnapshot) => ({
      ...{ code: 'BUDGET_EXHAUSTED', limit: key.limit, subject: key.subject, subjectLabel: key.subject },
      ...{ unit, limitAmount: bound ?? 0, asked: amount, ...seen },
    }),
    ...over,
  };
}

export const shadowClaim = (subject: string, amount: number, bound: number): LimitClaim =>
  claim(subject, amount, bound, { mode: 'shadow' });

/** The owner is warned from `soft` on. */
export const softClaim = (subject: string, amount: number, soft: number, bound: number): LimitClaim => ({
  ...claim(subject, amount, bound),
  soft: { bound: soft, warning: (seen) => softReason(claim(subject, amount, soft), seen) },
});

export const softReason = (one: LimitClaim, seen: CounterSnapshot): Reason => {
  const refusal = one.refusal(seen);
  return refusal.code === 'BUDGET_EXHAUSTED' ? { ...refusal, code: 'SOFT_LIMIT' } : refusal;
};

export const pipeline = (id: number): CounterKey => counter(`pipeline/${id}`, 'grace', 'once');

/** A job of a pipeline whose running ones may use up to `graceBound`, and the claim that counts it there. */
export const graced = (
  pipelineId: number,
  amount: number,
  bound: number,
  graceBound: number,
): readonly LimitClaim[] => [
  claim('group/1', amount, bound, { grace: { bound: graceBound, pipeline: pipeline(pipelineId) } }),
  claim('', 1, undefined, { counter: pipeline(pipelineId), unit: 'starts' }),
];

export const anAsk = (
  jobId: number,
  claims: readonly LimitClaim[],
  over: Partial<HoldRequest> = {},
): HoldRequest => ({
  jobId,
  facts: someFacts(),
  violations: [],
  claims,
  ...over,
});

/** A limit of 0 arrives as a violation, never as a claim. */
export const blocked: Violation = {
  rule: 'budget',
  class: 'cost',
  mode: 'enforce',
  reason: {
    code: 'EXCEEDS_LIMIT_ALONE',
    limit: 'money-month',
    subject: 'group/1',
    subjectLabel: 'group one',
    unit: 'micros',
    limitAmount: 0,
    asked: 10,
  },
};

/** `admitted`, `rejected`, or `undecided:<cause>`. */
export const wordOf = (outcome: HoldOutcome | undefined): string =>
  outcome === undefined
    ? 'nothing'
    : outcome.outcome === 'undecided'
      ? `undecided:${outcome.cause}`
      : outcome.outcome;

/** What a rejection says it saw, by subject. */
export const seenBy = (outcome: HoldOutcome | undefined): readonly (readonly [string, number])[] =>
  outcome?.outcome !== 'rejected'
    ? []
    : outcome.violations.flatMap(({ reason }) =>
        reason.code === 'BUDGET_EXHAUSTED' ? [[reason.subject, reason.committed] as const] : [],
      );
