import type { Job } from './checked-job.ts';
import { type LimitClaim, pipelineClaims } from './claim.ts';
import type { Terms } from './decision.ts';
import type { Estimator } from './estimate.ts';
import { findingOf, freezeViolations, withCohorts } from './finding.ts';
import { type CheckContext, factsOf, jobOf } from './job.ts';
import type { CountedKind } from './kinds/counted-kinds.ts';
import { breakGlassClaim, breakGlassFor, breakGlassViolation } from './limits/break-glass.ts';
import { type LimitSet, limitAt, type SubjectLimits, subjectLimitsOf } from './limits/limits.ts';
import type { Mode } from './mode.ts';
import type { Placement } from './placement.ts';
import type { Policy } from './policy.ts';
import type { Violation } from './reason.ts';
import type { JobFacts } from './request/recorded.ts';
import type { AdmissionRequest } from './request/request.ts';
import { compareModes, effectiveMode, leastMode, rolloutModes } from './rollout.ts';
import type { CountedRule } from './rule.ts';
import { applies, candidateRules, type EvaluationError, type ExemptRule, Outcome } from './rule-index.ts';
import { ASKED_BY } from './unit.ts';

export interface EvaluationContext extends CheckContext {
  readonly limits: LimitSet;
  readonly estimator: Estimator;
}

export interface Evaluation {
  /** Known without counters: instance → root → … → project → runner class → user, then the other rules in their order. */
  readonly violations: readonly Violation[];
  readonly claims: readonly LimitClaim[];
  readonly terms: Terms;
  readonly facts: JobFacts;
  readonly placement: Placement;
  readonly unknownGroup: boolean;
  readonly exemptions: readonly ExemptRule[];
  /** It is exempt from a rule that switches on limits: its claims on them have no bound and are charged unchecked. */
  readonly metered: boolean;
  /** Used if the job would be rejected: it skips limits and freezes. Rules of the policy still reject. */
  readonly breakGlass?: BrokenGlass;
  readonly errors: readonly EvaluationError[];
}

type BrokenGlass = Pick<Evaluation, 'violations' | 'claims'>;

export function evaluate(request: AdmissionRequest, using: EvaluationContext): Evaluation {
  const { policy, limits, directory } = using;
  const onLimits = new Outcome();
  const onRules = new Outcome();
  const job = jobOf(request, { ...using, onEstimateFailed: (error) => onRules.failed('estimate', error) });
  const { placement } = job;
  const modes = rolloutModes(placement, limits);
  const governing: GoverningRules = new Map();
  for (const rule of candidateRules(policy.ruleIndex, job)) {
    const mode = effectiveMode(rule, modes);
    if (mode === 'off' || !applies(rule, mode, job, onRules)) continue;
    if (rule.stateless) onRules.check(rule, mode, job);
    else {
      const exempt = onRules.exempted(rule, job);
      govern(governing, { rule, mode, exempt });
      if (placement.ancestors.length === 0 && !exempt) onRules.missing(rule, mode, 'namespaceId');
    }
  }
  const levels = subjectLimitsOf(job, limits);
  const { claims, metered } = askLimits(job, levels, limits, governing, onLimits);
  const frozen = freezeViolations(job, policy, limits, modes.capacity);
  const breakGlass = findBreakGlass(job, limits, levels, governing, onRules);
  return {
    violations: [...frozen, ...onLimits.violations, ...onRules.violations],
    claims: [...claims, ...pipelineClaims(claims)],
    ...(breakGlass !== undefined && { breakGlass }),
    terms: makeTerms(job, policy),
    facts: factsOf(job, policy),
    placement,
    unknownGroup: directory === undefined ? placement.ancestors.length === 0 : !placement.known,
    exemptions: onRules.exemptions,
    metered,
    errors: [...onLimits.errors, ...onRules.errors],
  };
}

function askLimits(
  job: Job,
  levels: readonly SubjectLimits[],
  limits: LimitSet,
  governing: GoverningRules,
  outcome: Outcome,
  always?: 'exempt',
): { readonly claims: readonly LimitClaim[]; readonly metered: boolean } {
  const claims: LimitClaim[] = [];
  let metered = false;
  for (const level of levels) {
    for (const limit of level.limits) {
      const governor = governing.get(ASKED_BY[limit.kind]);
      if (governor === undefined) continue;
      const { rule } = governor;
      const exempt = always === 'exempt' || governor.exempt;
      const mode = leastMode(governor.mode, limit.mode);
      if (level.missing !== undefined) {
        if (!exempt && mode !== 'off' && limit.amount !== 'unlimited')
          outcome.missing(rule, mode, level.missing);
        continue;
      }
      if (exempt) metered = true;
      if (mode === 'off') continue;
      const finding = outcome.guard(rule, mode, () =>
        findingOf(job, limitAt(limit, job.nowMs), level.label, { rule, mode, exempt }, limits),
      );
      if (finding?.claim !== undefined) claims.push(finding.claim);
      if (finding?.violation !== undefined) outcome.violations.push(finding.violation);
      if (finding?.missing !== undefined && !exempt) outcome.missing(rule, mode, finding.missing);
    }
  }
  return { claims: withCohorts(claims), metered };
}

function findBreakGlass(
  job: Job,
  limits: LimitSet,
  levels: readonly SubjectLimits[],
  governing: GoverningRules,
  onRules: Outcome,
): BrokenGlass | undefined {
  const glass = limits.breakGlasses && breakGlassFor(limits.breakGlasses, job);
  if (glass === undefined || onRules.violations.some(({ mode }) => mode === 'enforce')) return undefined;
  const onLimits = new Outcome();
  const { claims } = askLimits(job, levels, limits, governing, onLimits, 'exempt');
  return {
    violations: [breakGlassViolation(glass), ...onLimits.violations, ...onRules.violations],
    claims: [...claims, ...pipelineClaims(claims), breakGlassClaim(glass, job.nowMs)],
  };
}

const makeTerms = (
  { placement, runnerClass, unclassed, estimateSeconds, costMicros }: Job,
  { currency }: Policy,
): Terms => ({
  runnerClass: runnerClass.name,
  ...(unclassed && { unclassed }),
  estimateSeconds,
  costMicros,
  currency,
  group: placement.groupPath ?? String(placement.groupId ?? placement.ancestors[0]?.id ?? 'unknown'),
});

interface GoverningRule {
  readonly rule: CountedRule;
  readonly mode: Mode;
  readonly exempt: boolean;
}

type GoverningRules = Map<CountedKind, GoverningRule>;

/**
 * Keeps the rule that governs each kind of limit. The strictest rule wins, since a limit is checked once per
 * job. A rule with an exemption for the job governs only if there is no other. Ties are broken by id, so
 * that the order of the document does not matter.
 */
function govern(governing: GoverningRules, added: GoverningRule): void {
  const present = governing.get(added.rule.kind);
  if (present === undefined || compare(added, present) > 0) governing.set(added.rule.kind, added);
}

function compare(one: GoverningRule, other: GoverningRule): number {
  if (one.exempt !== other.exempt) return one.exempt ? -1 : 1;
  return compareModes(one.mode, other.mode) || (one.rule.id < other.rule.id ? 1 : -1);
}
