import type { CheckedJob } from './checked-job.ts';
import { type CheckContext, checkedJobOf } from './job.ts';
import { exemptionOf, isPlace, matchOf, missingFields } from './match/match.ts';
import type { AdmissionRequest } from './request/request.ts';
import type { StatelessRule } from './rule.ts';
import { applies, candidateRules, Outcome } from './rule-index.ts';

/** Evaluates the rules that need no counter, for the relay while the admit function is unreachable. Pure; never throws. */
export function evaluateStateless(request: AdmissionRequest, using: CheckContext) {
  const job = checkedJobOf(request, using);
  const outcome = new Outcome();
  /** Ids of rules in mode enforce about which nothing could be said here: those that close on errors reject. */
  const unevaluated: string[] = [];
  for (const rule of candidateRules(using.policy.ruleIndex, job)) {
    if (!rule.stateless) continue;
    if (using.directory === undefined && undecidable(rule, job)) {
      const ifItMatched = new Outcome();
      ifItMatched.check(rule, rule.mode, job);
      for (const field of missingFields(rule.match, job))
        if (!isPlace(field)) ifItMatched.missing(rule, rule.mode, field);
      if (ifItMatched.violations.some(({ mode }) => mode === 'enforce')) unevaluated.push(rule.id);
    } else if (applies(rule, rule.mode, job, outcome)) {
      outcome.check(rule, rule.mode, job);
    }
  }
  return { violations: outcome.violations, unevaluated };
}

/** Returns true if a directory could decide. Without ids to look up, the field is just missing. */
function undecidable(rule: StatelessRule, job: CheckedJob): boolean {
  const { groupId, projectId, projectPath, ancestors } = job.placement;
  if ((ancestors[0]?.id ?? groupId ?? projectId ?? projectPath) === undefined) return false;
  if (matchOf(rule.match, job).matches === false) return false;
  if (rule.readsPlace && !job.placement.known) return true;
  const { not = {} } = rule.match;
  return (
    [...missingFields(rule.match, job), ...missingFields(not, job)].some(isPlace) ||
    isPlace(exemptionOf(rule.exempt, job, job.nowMs).unproven)
  );
}
