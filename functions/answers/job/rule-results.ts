import type { Job } from '../../../policies/checked-job.ts';
import type { LimitClaim } from '../../../policies/claim.ts';
import type { Estimator } from '../../../policies/estimate.ts';
import { type Evaluation, evaluate, GoverningRules } from '../../../policies/evaluate.ts';
import { jobOf } from '../../../policies/job.ts';
import { COUNTED_KINDS } from '../../../policies/kinds/counted-kinds.ts';
import type { RuleKind } from '../../../policies/kinds/kinds.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { exemptionOf, failedCondition, matchOf } from '../../../policies/match/match.ts';
import type { Mode, RuleClass } from '../../../policies/mode.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { rolledOut, rolloutModes } from '../../../policies/rollout.ts';
import type { MissingFieldPolicy, Rule } from '../../../policies/rule.ts';
import { applies, Outcome } from '../../../policies/rule-index.ts';
import { conditionKey, valueCompared } from './condition-text.ts';

/** Rules for an evaluation. */
export interface EvaluationRules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory?: Directory | undefined;
  readonly estimator: Estimator;
}

/** Result of one rule for one request. */
export interface RuleResult {
  readonly id: string;
  readonly kind: RuleKind;
  readonly class: RuleClass;
  /** In force for this job: the rule's own mode, or the rollout of its group where that is milder. */
  readonly mode: Mode;
  readonly stateless: boolean;
  readonly onMissing: MissingFieldPolicy;
  /** The line it adds to the rejection text. */
  readonly message?: string;
  readonly outcome: RuleOutcome;
  /** Missing fields of the request that the rule needs, with any `on_missing`. */
  readonly missing: readonly string[];
  /** Fields by which `not` or an exemption could still take the job out, if they were known. */
  readonly unproven: readonly string[];
  /** In all modes, as `evaluate` gave them. */
  readonly violations: readonly Violation[];
  /** Claims on limits; empty for stateless rules. */
  readonly claims: readonly LimitClaim[];
  /** The stricter rule of this kind that asks the limits in its place. */
  readonly askedBy?: string;
}

export type RuleOutcome =
  /** It is switched off, or the rollout of the job's group switches it off. */
  | { readonly outcome: 'off' }
  /** `condition` as the document spells it, `runner_classes` or `not.groups`; `value` is the job's, if it is known. */
  | { readonly outcome: 'not matched'; readonly condition: string; readonly value?: string }
  | { readonly outcome: 'matched' }
  /** Undecided without the `missing` fields. */
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'exempt'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly cause: string };

/** Every rule of the policy in document order, and what became of it for this request. Pure; touches no counter. */
export function ruleResults(
  request: AdmissionRequest,
  rules: EvaluationRules,
  nowMs: number,
): readonly RuleResult[] {
  const using = { ...rules, nowMs };
  const evaluation = evaluate(request, using);
  const job = jobOf(request, { ...using, onEstimateFailed: () => {} });
  const modes = rolloutModes(job.placement, rules.limits);
  const governing = new GoverningRules();
  const results = rules.policy.rules.map((rule): RuleResult => {
    const mode = rolledOut(rule, modes);
    const { outcome, missing = [], unproven = [] } = outcomeOf(rule, mode, job, evaluation);
    const asks = outcome.outcome === 'matched' || outcome.outcome === 'exempt';
    if (!rule.stateless && asks) governing.add({ rule, mode, exempt: outcome.outcome === 'exempt' });
    const { id, kind, class: ruleClass, stateless, onMissing, message } = rule;
    return {
      id,
      kind,
      class: ruleClass,
      mode,
      stateless,
      onMissing,
      ...(message !== undefined && { message }),
      outcome,
      missing,
      unproven,
      violations: evaluation.violations.filter((each) => each.rule === id),
      claims: evaluation.claims.filter((each) => each.rule === id && each.part === undefined),
    };
  });
  return results.map((result) => withAsker(result, governing));
}

interface Found {
  readonly outcome: RuleOutcome;
  readonly missing?: readonly string[];
  readonly unproven?: readonly string[];
}

function outcomeOf(rule: Rule, mode: Mode, job: Job, evaluation: Evaluation): Found {
  if (mode === 'off') return { outcome: { outcome: 'off' } };
  const error = evaluation.errors.find((each) => each.rule === rule.id);
  if (error !== undefined) return { outcome: { outcome: 'failed', cause: error.cause } };
  const match = matchOf(rule.match, job);
  if (match.matches === false) return { outcome: notMatched(rule, job) };
  const exempted = evaluation.exemptions.find((each) => each.rule === rule.id);
  if (exempted !== undefined) return { outcome: { outcome: 'exempt', reason: exempted.reason } };
  // Asked as `evaluate` asks: a security rule does not wait for the directory.
  if (match.matches === 'missing' && !applies(rule, mode, job, new Outcome()))
    return { outcome: { outcome: 'missing' }, missing: [match.field] };
  const doubt = match.matches === true ? match.unproven : match.field;
  const exemption = exemptionOf(rule.exempt, job, job.nowMs).unproven;
  return asked(
    rule,
    job,
    [doubt, exemption].filter((field) => field !== undefined),
  );
}

function notMatched(rule: Rule, job: Job): RuleOutcome {
  const condition = failedCondition(rule.match, job) ?? '';
  const value = valueCompared(condition, job);
  return {
    outcome: 'not matched',
    condition: conditionKey(condition),
    ...(value !== undefined && { value }),
  };
}

/** A rule that applies, and what it lacks to say more. */
function asked(rule: Rule, job: Job, unproven: readonly string[]): Found {
  if (!rule.stateless) {
    // Limits of groups are not asked where no group is known.
    const unplaced = job.placement.ancestors.length === 0;
    return {
      outcome: { outcome: unplaced ? 'missing' : 'matched' },
      missing: unplaced ? ['namespaceId'] : [],
      unproven,
    };
  }
  const reasons = rule.check(job);
  const fields = reasons.flatMap((reason) => (reason.code === 'FIELD_MISSING' ? [reason.field] : []));
  const onlyMissing = fields.length > 0 && fields.length === reasons.length;
  return {
    outcome: { outcome: onlyMissing ? 'missing' : 'matched' },
    missing: [...new Set(fields)],
    unproven,
  };
}

function withAsker(result: RuleResult, governing: GoverningRules): RuleResult {
  const kind = COUNTED_KINDS.find((each) => each === result.kind);
  const { outcome } = result.outcome;
  if (kind === undefined || (outcome !== 'matched' && outcome !== 'exempt')) return result;
  const asker = governing.of(kind)?.rule.id;
  return asker === undefined || asker === result.id ? result : { ...result, askedBy: asker };
}
