import type { LimitRoom } from '../../../functions/core/contract/admissions.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { Unit } from '../../../policies/unit.ts';
import type { LedgerDecision } from '../../../relay/exchange.ts';

export const admittedOf = ({ jobId }: Pick<AdmissionRequest, 'jobId'>): LedgerDecision => ({
  outcome: 'admitted',
  decisionId: `d-${jobId}`,
  shadow: [],
});

export type QuotaCode =
  | 'BUDGET_EXHAUSTED'
  | 'CONCURRENCY_FULL'
  | 'CAPACITY_FULL'
  | 'WINDOW_FULL'
  | 'EXCEEDS_LIMIT_ALONE';

export function quotaViolation(
  subject: string,
  code: QuotaCode = 'BUDGET_EXHAUSTED',
  parts: Partial<Pick<Violation, 'mode' | 'class'>> & {
    readonly limitAmount?: number;
    readonly limit?: string;
    readonly unit?: Unit;
    readonly asked?: number;
    readonly committed?: number;
  } = {},
): Violation {
  const { limitAmount = 100, limit = 'money-month', unit = 'micros', asked = 1, ...others } = parts;
  const { committed = limitAmount, ...more } = others;
  const facts = { limit, subject, subjectLabel: subject, unit, limitAmount, asked };
  const used = code === 'EXCEEDS_LIMIT_ALONE' ? {} : { committed, settled: 0 };
  const reason = { code, ...facts, ...used } as Reason;
  return { rule: 'budgets', class: 'cost', mode: 'enforce', reason, ...more };
}

const EUR = 1_000_000;

/** The headroom of a budget of 100 EUR. A job of `aPolicy` costs one. */
export const budgetRoom = (leftEur: number, subject = 'group/100'): LimitRoom => ({
  policy: 'room',
  refusal: quotaViolation(subject, 'BUDGET_EXHAUSTED', {
    ...{ limitAmount: 100 * EUR, committed: (100 - leftEur) * EUR, asked: EUR },
  }),
});

export const rejectedFor = (
  violation: Violation,
  text = 'The budget of acme is used up.',
): Extract<LedgerDecision, { outcome: 'rejected' }> => ({
  outcome: 'rejected',
  decisionId: 'd-rejected',
  violations: [violation],
  shadow: [],
  text,
});
