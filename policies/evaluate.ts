import type { LimitClaim } from './claim.ts';
import type { Terms } from './decision.ts';
import type { Directory } from './directory.ts';
import { type Disclosure, disclosureFor } from './disclosure.ts';
import type { Estimator } from './estimate.ts';
import { type Governing, stricter } from './governing.ts';
import { type Job, jobOf } from './job.ts';
import { factsOf, type JobFacts } from './job-facts.ts';
import { levelsOf } from './levels.ts';
import type { Limit, LimitSet } from './limits.ts';
import { leastMode } from './mode.ts';
import type { Placement } from './placement.ts';
import type { Policy } from './policy.ts';
import type { Violation } from './reason.ts';
import type { AdmissionRequest } from './request.ts';
import { rolledOut, rolloutModes } from './rollout.ts';
import { candidateRules } from './rule-index.ts';
import { applies, type EvaluationError, Outcome } from './rule-outcome.ts';
import { budget } from './rules/budget.ts';
import { concurrency } from './rules/concurrency.ts';

/** Everything a decision rests on beside the request and the counters. */
export interface EvaluateWith {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory?: Directory | undefined;
  readonly estimator: Estimator;
  /** Wall clock, Unix ms: which period it is. */
  readonly nowMs: number;
}

export interface Evaluation {
  /** Known without counters: instance → root → … → project → runner class → user, then the other rules in their order. */
  readonly violations: readonly Violation[];
  /** What the ledger must ask of the counters, in the same order. At most one per counter. */
  readonly claims: readonly LimitClaim[];
  readonly terms: Terms;
  readonly facts: JobFacts;
  readonly placement: Placement;
  /** What the rejection text may tell. */
  readonly disclosure: Disclosure;
  /** The job's group is not fully known: only some of its limits were asked. Counted by an alarm. */
  readonly unknownGroup: boolean;
  /** Rules that failed. Empty on a good day. */
  readonly errors: readonly EvaluationError[];
}

/** Request, policy, limits and the time → violations and claims, all of them. Pure; a rule that fails does not throw. */
export function evaluate(request: AdmissionRequest, using: EvaluateWith): Evaluation {
  const { policy, limits, directory } = using;
  const onLimits = new Outcome();
  const onRules = new Outcome();
  const job = jobOf(request, { ...using, onEstimateFailed: (error) => onRules.failed('estimate', error) });
  const { placement, runnerClass } = job;
  const modes = rolloutModes(placement, limits);
  const governing: { budget?: Governing; concurrency?: Governing } = {};
  for (const rule of candidateRules(policy.ruleIndex, placement)) {
    const mode = rolledOut(rule, modes);
    if (mode === 'off' || !applies(rule, mode, placement, runnerClass.name, onRules)) continue;
    if (rule.kind === 'image') onRules.image(rule, mode, request);
    else governing[rule.kind] = stricter(governing[rule.kind], { rule, mode });
    if (rule.kind !== 'image' && placement.ancestors.length === 0) onRules.missing(rule, mode, 'namespaceId');
  }
  const claims: LimitClaim[] = [];
  for (const level of levelsOf(job, limits)) {
    for (const limit of level.limits) {
      const asker = governing[limit.kind === 'jobs' ? 'concurrency' : 'budget'];
      if (asker !== undefined) ask(job, limit, level.label, asker, onLimits, claims);
    }
  }
  return {
    violations: [...onLimits.violations, ...onRules.violations],
    claims,
    terms: termsOf(job, policy),
    facts: factsOf(job, policy),
    placement,
    disclosure: disclosureFor(placement, policy.disclose),
    unknownGroup: directory === undefined ? placement.ancestors.length === 0 : !placement.known,
    errors: [...onLimits.errors, ...onRules.errors],
  };
}

function ask(
  job: Job,
  limit: Limit,
  label: () => string,
  { rule, mode: ruleMode }: Governing,
  outcome: Outcome,
  claims: LimitClaim[],
): void {
  const mode = leastMode(ruleMode, limit.mode);
  if (mode === 'off') return;
  const asking = { rule: rule.id, class: rule.class, mode };
  const look = limit.kind === 'jobs' ? concurrency : budget;
  const finding = outcome.guard(rule, mode, () => look(job, limit, label, asking));
  if (finding?.claim !== undefined) claims.push(finding.claim);
  else if (finding !== undefined) outcome.violations.push(finding.violation);
}

const termsOf = (
  { placement, runnerClass, estimateSeconds, costMicros }: Job,
  { currency }: Policy,
): Terms => ({
  runnerClass: runnerClass.name,
  estimateSeconds,
  costMicros,
  currency,
  group: placement.groupPath ?? String(placement.groupId ?? placement.ancestors[0]?.id ?? 'unknown'),
});
