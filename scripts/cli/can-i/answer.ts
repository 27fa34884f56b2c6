import {
  type EvaluationRules,
  type RuleResult,
  ruleResults,
} from '../../../functions/answers/job/rule-results.ts';
import { toHoldAsk } from '../../../functions/core/admission/index.ts';
import { type Counter, type KnownCounter, newJob, weigh } from '../../../functions/core/ledger/index.ts';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Terms } from '../../../policies/decision.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import { disclosureFor, footerOf, rejectionText } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type LimitAsk, limitAskOf } from '../evaluation/limit-ask.ts';

/** Reads counters, and nothing else: undefined where there is none yet. */
type ReadCounters = (keys: readonly CounterKey[]) => Promise<readonly (Counter | undefined)[]>;

export interface CanIAnswer {
  readonly verdict: 'admitted' | 'rejected';
  readonly terms: Terms;
  readonly results: readonly RuleResult[];
  readonly asks: readonly SeenAsk[];
  /** In mode `enforce`. */
  readonly violations: readonly Violation[];
  readonly shadow: readonly Violation[];
  /** As the job page would show it; only of a rejected job. */
  readonly text?: string;
}

/** What it asks of a limit, and what the counter shows now. Whole units. */
export interface SeenAsk extends LimitAsk {
  readonly settled: number;
  readonly held: number;
  /** Absent without a bound. A limit that only watches shows what would count had it been enforced. */
  readonly left?: number;
}

/** What the admit function would answer now. The ledger's own weighing decides; nothing is written. */
export async function answerCanI(
  request: AdmissionRequest,
  rules: EvaluationRules,
  nowMs: number,
  readCounters: ReadCounters,
): Promise<CanIAnswer> {
  const evaluation = evaluate(request, { ...rules, nowMs });
  const { claims, terms, placement } = evaluation;
  const keys = claims.flatMap(({ counter, grace }) =>
    grace === undefined ? [counter] : [counter, grace.pipeline],
  );
  const counters = keys.length === 0 ? [] : await readCounters(keys);
  const known = new Map(keys.map((key, index) => [counterName(key), seenOf(counters[index])]));
  const [verdict] = weigh([newJob(toHoldAsk({ request, evaluation }))], known).verdicts;
  const violations = verdict?.violations ?? [];
  const shadow = verdict?.shadow ?? [];
  return {
    verdict: violations.length > 0 ? 'rejected' : 'admitted',
    terms,
    results: withRefusals(ruleResults(request, rules, nowMs), [...violations, ...shadow]),
    asks: claims
      .filter(({ neverFits, part }) => !neverFits && part === undefined)
      .map((claim) => askSeen(limitAskOf(claim), known)),
    violations,
    shadow,
    ...textOf(violations),
  };

  function textOf([first, ...more]: readonly Violation[]): { readonly text?: string } {
    if (first === undefined) return {};
    const footer = footerOf(rules.policy.rules, violations);
    const text = rejectionText({
      request,
      violations: [first, ...more],
      terms,
      decisionId: 'none, asked with can-i',
      nowMs,
      disclosure: disclosureFor(placement, rules.policy.disclose),
      ...(footer !== undefined && { footer }),
      ...withoutAbsent({ retried: retriedBy(rules.policy.requeue, evaluation.facts.groupIds, violations) }),
    });
    return { text };
  }
}

/** A rule's violations, and what the counters it asks have against the job. */
const withRefusals = (
  results: readonly RuleResult[],
  violations: readonly Violation[],
): readonly RuleResult[] =>
  results.map((result) => ({ ...result, violations: violations.filter(({ rule }) => rule === result.id) }));

const seenOf = (counter: Counter | undefined): KnownCounter => ({
  committed: counter?.committed ?? 0,
  fitted: counter?.fitted ?? 0,
  settled: counter?.settled ?? 0,
});

function askSeen(ask: LimitAsk, known: ReadonlyMap<string, KnownCounter>): SeenAsk {
  const { committed, fitted, settled } = known.get(counterName(ask.counter)) ?? seenOf(undefined);
  const counted = ask.mode === 'enforce' ? committed : fitted;
  return {
    ...ask,
    settled,
    held: committed - settled,
    ...(ask.bound !== undefined && { left: ask.bound - counted }),
  };
}
