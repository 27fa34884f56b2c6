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
    if (claim.part !== undefined) return lentOutViolation(claim, claims, shown);
    const { committed, fitted, settled } = shown(claim.counter);
    const seen = claim.mode === 'enforce' ? committed : fitted;
    const graced = claim.grace !== undefined && shown(claim.grace.pipeline).committed > 0;
    const bound = graced ? claim.grace?.bound : claim.bound;
    if (bound === undefined || seen + claim.amount <= bound) return [];
    const reason = claim.refusal({ committed: seen, settled });
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

/** A job of a cohort takes first what its group keeps, and the rest of the pool: that may be lent out. */
function lentOutViolation(
  claim: LimitClaim,
  claims: readonly LimitClaim[],
  shown: (key: CounterKey) => { readonly committed: number; readonly settled: number },
): Violation[] {
  const { part, counter, bound, rule, class: ruleClass, mode, amount } = claim;
  if (part?.from !== 'pool' || bound === undefined) return [];
  const of = counterName(part.of);
  const kept = claims.find((each) => each.part?.from === 'kept' && counterName(each.part.of) === of);
  const keptFree = kept === undefined ? 0 : Math.max(0, (kept.bound ?? 0) - shown(kept.counter).committed);
  const rest = Math.max(0, amount - keptFree);
  if (rest === 0 || shown(counter).committed + rest <= bound) return [];
  const whole = claims.find((each) => each.part === undefined && counterName(each.counter) === of);
  const { committed, settled } = shown(part.of);
  // Its own limit says so already.
  if (whole?.bound !== undefined && committed + amount > whole.bound) return [];
  return [{ rule, class: ruleClass, mode, reason: claim.refusal({ committed, settled, lentOut: true }) }];
}
