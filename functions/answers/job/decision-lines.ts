/** Words the reasons against a job in lines that the caller may read. */
import { durationText } from '../../../policies/units/unit-texts.ts';
import type { CurrentDecision } from '../../core/admission/index.ts';
import { disclosedViolation, type ViolationTextContext } from './disclosed-violation.ts';
import type { DisclosedViolation, RuleNowRow } from './model.ts';
import type { RuleOutcome, RuleResult } from './rule-results.ts';

type DecisionReason = DisclosedViolation & { readonly rule: string };

/** All that rejects the job or only watches; not what an exemption or a break-glass let pass. */
export const reasonsOf = (
  { violations, shadow }: CurrentDecision,
  tell: ViolationTextContext,
): DecisionReason[] =>
  [...violations, ...shadow.filter(({ exempt }) => exempt !== true)].map((each) => ({
    rule: each.rule,
    ...disclosedViolation(each, tell),
  }));

/** Returns how long the relay would let the job wait for headroom before a rejection. */
export const waitOf = ({ waitMs }: CurrentDecision): { readonly waitSeconds?: number } =>
  waitMs === undefined ? {} : { waitSeconds: waitMs / 1_000 };

/** Follows `rejected`: `, unless it gets room within 20 s`. Empty if the job would not wait. */
export const waitText = ({ waitSeconds }: { readonly waitSeconds?: number }): string =>
  waitSeconds === undefined ? '' : `, unless it gets room within ${durationText(waitSeconds)}`;

/** Describes the outcome of a rule, with the violations that the decision has because of it. */
export function ruleNowOf(
  { id, outcome, missing }: RuleResult,
  { violations, shadow }: CurrentDecision,
  tell: ViolationTextContext,
): RuleNowRow['now'] {
  const detail = detailOf(outcome, missing);
  return {
    outcome: outcome.outcome,
    ...(detail !== undefined && { detail }),
    violations: [...violations, ...shadow]
      .filter(({ rule }) => rule === id)
      .map((each) => disclosedViolation(each, tell)),
  };
}

function detailOf(outcome: RuleOutcome, missing: readonly string[]): string | undefined {
  switch (outcome.outcome) {
    case 'not matched':
      return outcome.value === undefined ? outcome.condition : `${outcome.condition}: ${outcome.value}`;
    case 'exempt':
      return outcome.reason;
    case 'failed':
      return outcome.cause;
    default:
      return missing.length === 0 ? undefined : missing.join(', ');
  }
}
