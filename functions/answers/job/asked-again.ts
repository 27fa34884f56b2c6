import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { Terms } from '../../../policies/decision.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Violation } from '../../../policies/reason.ts';
import { requestOfRecord, variablesLost } from '../../../policies/request/recorded.ts';
import { comparesVariables, readsVariables } from '../../../policies/variables/reads-variables.ts';
import type { Counter, JobRecord } from '../../core/ledger/index.ts';
import { type EvaluationRules, type RuleResult, ruleResults } from './rule-results.ts';

/** A recorded job, asked of today's documents. */
export interface ReevaluatedJob {
  readonly results: readonly RuleResult[];
  readonly claims: readonly LimitClaim[];
  readonly terms: Terms;
  readonly priceVersion: string;
  readonly microsPerMinute: number;
  /** Rules that need what nobody kept: what they say now is not known. */
  readonly unaskable: ReadonlySet<string>;
  /** Those of them that need the user, whose id is not kept for good. */
  readonly needUser: ReadonlySet<string>;
}

/** Undefined: the record does not say what the rules looked at. */
export function askAgain(
  record: JobRecord,
  rules: EvaluationRules,
  nowMs: number,
): ReevaluatedJob | undefined {
  const { asked } = record.facts;
  if (asked === undefined) return undefined;
  const request = requestOfRecord(record.jobId, record.facts, asked);
  const results = ruleResults(request, rules, nowMs);
  const { claims, terms, facts } = evaluate(request, { ...rules, nowMs });
  const lost = variablesLost(asked);
  const comparing = new Set(rules.policy.rules.filter(comparesVariables).map(({ id }) => id));
  const unaskable = results.filter(
    ({ id, kind, missing }) =>
      comparing.has(id) ||
      (lost && (readsVariables({ kind }) || missing.some((field) => field.includes('variables')))),
  );
  const nameless = record.facts.userPseudonym !== undefined;
  const needUser = results
    .filter(({ missing }) => nameless && missing.includes('userId'))
    .map(({ id }) => id);
  const { priceVersion, microsPerMinute } = facts;
  return {
    results,
    claims,
    terms,
    priceVersion,
    microsPerMinute,
    unaskable: new Set([...unaskable.map(({ id }) => id), ...needUser]),
    needUser: new Set(needUser),
  };
}

export interface CurrentVerdict {
  readonly outcome: 'admitted' | 'rejected';
  readonly violations: readonly Violation[];
  /** What would reject it if it were enforced. */
  readonly shadow: readonly Violation[];
}

/** The counters a verdict looks at. */
export const countersAsked = (claims: readonly LimitClaim[]): readonly CounterKey[] =>
  claims.flatMap(({ counter, grace }) => (grace === undefined ? [counter] : [counter, grace.pipeline]));

/** What the ledger would say if this job came now and its own charge were not there yet. */
export function verdictNow(
  { results, claims, unaskable }: ReevaluatedJob,
  record: JobRecord,
  counters: ReadonlyMap<string, Counter>,
): CurrentVerdict {
  const own = new Map(
    record.claims.map(({ counter, counted, corrected, fitted }) => [
      counterName(counter),
      { committed: counted + corrected, fitted: fitted ? counted + corrected : 0 },
    ]),
  );
  const shown = (key: CounterKey) => {
    const counter = counters.get(counterName(key));
    const mine = own.get(counterName(key));
    return {
      committed: (counter?.committed ?? 0) - (mine?.committed ?? 0),
      fitted: (counter?.fitted ?? 0) - (mine?.fitted ?? 0),
      settled: counter?.settled ?? 0,
    };
  };
  const refused = claims.flatMap((claim): Violation[] => {
    if (claim.part !== undefined) return [];
    const { committed, fitted, settled } = shown(claim.counter);
    const seen = claim.mode === 'enforce' ? committed : fitted;
    const graced = claim.grace !== undefined && shown(claim.grace.pipeline).committed > 0;
    const bound = graced ? claim.grace?.bound : claim.bound;
    if (bound === undefined) return [];
    const fits = seen + claim.amount <= bound;
    if (fits && !isLentOut(claim, claims, (key) => shown(key).committed)) return [];
    const reason = claim.refusal({ committed: seen, settled, ...(fits && { lentOut: true }) });
    return [{ rule: claim.rule, class: claim.class, mode: claim.mode, reason }];
  });
  const known = results.filter(({ id }) => !unaskable.has(id)).flatMap(({ violations }) => violations);
  const all = [...refused, ...known];
  const violations = all.filter(({ mode }) => mode === 'enforce');
  return {
    outcome: violations.length > 0 ? 'rejected' : 'admitted',
    violations,
    shadow: all.filter(({ mode }) => mode !== 'enforce'),
  };
}

/** Whether other groups of the limit's cohort use what the job needs beyond its group's kept part. */
function isLentOut(
  { counter, amount }: LimitClaim,
  claims: readonly LimitClaim[],
  committed: (key: CounterKey) => number,
): boolean {
  const whole = counterName(counter);
  let left = amount;
  for (const { part, counter: key, bound } of claims) {
    if (part === undefined || bound === undefined || counterName(part.of) !== whole) continue;
    const free = Math.max(0, bound - committed(key));
    if (part.from === 'kept') left -= Math.min(left, free);
    else if ((part.from === 'lent' ? left : amount) > free) return true;
  }
  return false;
}
