import type { Reason, Violation } from '../../../policies/reason.ts';
import type { Disclosure } from '../../../policies/text/reason-text.ts';
import { discreetHeadline, discreetReasonLine, reasonLine } from '../../../policies/text/reason-texts.ts';
import { durationText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { CurrentDecision } from '../../core/admission/judge.ts';
import type { Scope } from '../reading/scope.ts';
import type { DisclosedViolation, RuleNowRow } from './model.ts';
import type { RuleResult } from './rule-results.ts';

export interface ViolationTextContext {
  readonly scope: Scope;
  /** The group of the job. It decides how much is shown of limits that are not visible. */
  readonly disclosure: Disclosure;
  readonly currency: string;
}

export const disclosedViolation = (
  { mode, reason }: Violation,
  using: ViolationTextContext,
): DisclosedViolation => ({ mode, code: reason.code, text: violationText(reason, using) });

export function violationText(reason: Reason, { scope, disclosure, currency }: ViolationTextContext): string {
  if (scope.seesAll || disclosure === 'all') return reasonLine(reason, currency);
  if ('limitAmount' in reason) {
    if (scope.sees(reason.subject)) return reasonLine(reason, currency);
    if (disclosure === 'binding') return discreetReasonLine(reason, currency);
  }
  return disclosure === 'none' ? discreetHeadline(reason) : reasonLine(reason, currency);
}

/** Lists all violations of a decision, except those that an exemption or a break-glass admitted. */
export const reasonsOf = ({ violations, shadow }: CurrentDecision, using: ViolationTextContext) =>
  [...violations, ...shadow.filter(({ exempt }) => exempt !== true)].map((each) => ({
    rule: each.rule,
    ...disclosedViolation(each, using),
  }));

export const waitOf = ({ waitMs }: CurrentDecision): { readonly waitSeconds?: number } =>
  waitMs === undefined ? {} : { waitSeconds: waitMs / 1_000 };

/** Follows `rejected`: `, unless it gets room within 20 s`. Empty if the job would not wait. */
export const waitText = ({ waitSeconds }: { readonly waitSeconds?: number }): string =>
  waitSeconds === undefined ? '' : `, unless it gets room within ${durationText(waitSeconds)}`;

export function ruleNowOf(
  result: RuleResult,
  { violations, shadow }: CurrentDecision,
  using: ViolationTextContext,
): RuleNowRow['now'] {
  const own = [...violations, ...shadow].filter(({ rule }) => rule === result.id);
  const lines = own.map((each) => disclosedViolation(each, using));
  return ruleNowWith(result, lines);
}

export const ruleNowWith = (
  { outcome, detail, missing }: RuleResult,
  violations: readonly DisclosedViolation[],
): RuleNowRow['now'] => ({
  outcome,
  ...withoutAbsent({ detail: detail ?? (missing.join(', ') || undefined) }),
  violations,
});
