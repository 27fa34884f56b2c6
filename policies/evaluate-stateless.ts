import type { Directory } from './directory.ts';
import { matchOf } from './match.ts';
import { type Placement, place } from './placement.ts';
import type { Policy } from './policy.ts';
import { runnerClassOf } from './price.ts';
import type { Violation } from './reason.ts';
import type { AdmissionRequest } from './request.ts';
import type { Rule } from './rule.ts';
import { candidateRules } from './rule-index.ts';
import { applies, Outcome } from './rule-outcome.ts';

export interface StatelessEvaluation {
  /** In all modes; only those of mode enforce may reject. */
  readonly violations: readonly Violation[];
  /** Ids of security rules in mode enforce about which nothing could be said here: the caller falls closed. */
  readonly unevaluated: readonly string[];
}

/**
 * What the relay can decide by itself while the admit function is out of reach: the security rules, as always. Rules of
 * cost and capacity fall open and are not asked. Without a directory some matches cannot be told. Pure; never throws.
 */
export function evaluateStateless(
  request: AdmissionRequest,
  policy: Policy,
  directory?: Directory,
): StatelessEvaluation {
  const placement = place(request, directory);
  const runnerClass = runnerClassOf(request, policy.prices).name;
  const outcome = new Outcome();
  const unevaluated: string[] = [];
  for (const rule of candidateRules(policy.ruleIndex, placement)) {
    if (rule.class !== 'security') continue;
    if (rule.kind !== 'image') {
      if (rule.mode === 'enforce') unevaluated.push(rule.id);
    } else if (directory === undefined && undecidable(rule, placement, runnerClass)) {
      // Whether the rule matches or not, a job it has nothing against passes.
      const ifItMatched = new Outcome();
      ifItMatched.image(rule, rule.mode, request);
      if (ifItMatched.violations.some(({ mode }) => mode === 'enforce')) unevaluated.push(rule.id);
    } else if (applies(rule, rule.mode, placement, runnerClass, outcome)) {
      outcome.image(rule, rule.mode, request);
    }
  }
  return { violations: outcome.violations, unevaluated };
}

/** Whether a directory could have told. Where the request names nothing to look up, a missing field is just that. */
function undecidable(rule: Rule, placement: Placement, runnerClass: string): boolean {
  const { groupId, projectId, projectPath } = placement;
  if ((placement.ancestors[0]?.id ?? groupId ?? projectId ?? projectPath) === undefined) return false;
  const result = matchOf(rule.match, placement, runnerClass);
  const field = result.matches === 'missing' ? result.field : result.matches ? result.unproven : undefined;
  return field === 'namespaceId' || field === 'projectPath';
}
