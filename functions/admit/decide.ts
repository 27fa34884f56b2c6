import type { Decision, Notice } from '../../policies/decision.ts';
import type { Estimator } from '../../policies/estimate.ts';
import { type Evaluation, evaluate } from '../../policies/evaluate.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { EstimateSettings, Policy } from '../../policies/policy.ts';
import { parseAdmissionRequest } from '../../policies/request/parse-request.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { footerOf, rejectionText } from '../../policies/text/rejection-text.ts';
import type { HoldAsk, HoldOutcome, Ledger, LedgerClock } from '../ledger/ledger.ts';
import type { Log } from '../shared/log.ts';
import { noticesOf, type Rejection } from './notice.ts';

/** What a decision rests on beside the counters. */
export interface Rules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
  readonly estimator: Estimator;
}

export interface DecideDeps {
  readonly ledger: Ledger;
  /** The rules in force now; limits change without a deploy, so they are asked for with every batch. */
  readonly currentRules: () => Promise<Rules>;
  /** What is known of how long these jobs last, by their last runs; absent: the rules' own estimator. Never throws. */
  readonly estimatorFor?: (
    requests: readonly AdmissionRequest[],
    settings: EstimateSettings,
    deadlineMs: number,
  ) => Promise<Estimator>;
  readonly clock: LedgerClock;
  readonly log: Log;
}

/** A request that parsed and was evaluated, on its way to the ledger. */
interface Evaluated {
  readonly request: AdmissionRequest;
  readonly evaluation: Evaluation;
}

/**
 * Decides a batch: parse → evaluate → hold → say so. One decision per entry, same order, each on its own: an entry
 * that does not parse is `undecided{invalid}` and its neighbours never notice.
 *
 * @param deadlineMs on `deps.clock.monotonicMs()`.
 */
export async function decide(
  entries: readonly unknown[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<readonly Decision[]> {
  const rules = await deps.currentRules();
  const decisions: Decision[] = new Array(entries.length);
  const requests: AdmissionRequest[] = [];
  const placeOf: number[] = [];

  entries.forEach((entry, index) => {
    const parsed = parseAdmissionRequest(entry);
    if (!parsed.ok) {
      decisions[index] = {
        outcome: 'undecided',
        cause: 'invalid',
        problems: parsed.problems,
      };
      return;
    }
    placeOf.push(index);
    requests.push(parsed.value);
  });

  const { estimate } = rules.policy;
  const estimator = (await deps.estimatorFor?.(requests, estimate, deadlineMs)) ?? rules.estimator;
  const nowMs = deps.clock.nowMs();
  const evaluated = requests.map((request): Evaluated => {
    const evaluation = evaluate(request, { ...rules, estimator, nowMs });
    reportTrouble(request, evaluation, deps.log);
    return { request, evaluation };
  });

  const outcomes = evaluated.length === 0 ? [] : await deps.ledger.hold(evaluated.map(toHoldAsk), deadlineMs);
  const notices = await noticesByJob(evaluated, outcomes, deadlineMs, deps);
  evaluated.forEach((one, position) => {
    const outcome = outcomes[position];
    decisions[placeOf[position] ?? 0] =
      outcome === undefined
        ? { outcome: 'undecided', cause: 'unavailable' }
        : toDecision(one, outcome, notices.get(one), rules.policy, nowMs);
  });
  return decisions;
}

async function noticesByJob(
  evaluated: readonly Evaluated[],
  outcomes: readonly HoldOutcome[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<ReadonlyMap<Evaluated, Notice>> {
  const rejected: Evaluated[] = [];
  const rejections: Rejection[] = [];
  evaluated.forEach((one, position) => {
    const outcome = outcomes[position];
    if (outcome?.outcome !== 'rejected') return;
    rejected.push(one);
    rejections.push({ request: one.request, facts: one.evaluation.facts, outcome });
  });
  const notices = await noticesOf(rejections, deadlineMs, deps);
  return new Map(rejected.map((one, index) => [one, notices[index] ?? 'first']));
}

/** What the ledger needs of an evaluated request. */
export function toHoldAsk({ request, evaluation }: Evaluated): HoldAsk {
  return {
    jobId: request.jobId,
    facts: evaluation.facts,
    violations: evaluation.violations,
    claims: evaluation.claims,
    ...(evaluation.metered && { unchecked: 'exempt' as const }),
  };
}

function toDecision(
  one: Evaluated,
  outcome: HoldOutcome,
  notice: Notice | undefined,
  policy: Policy,
  nowMs: number,
): Decision {
  const { request, evaluation } = one;
  if (outcome.outcome === 'undecided') return outcome;
  const decisionId = decisionIdOf(request.jobId, outcome.generation);
  const { terms } = evaluation;
  if (outcome.outcome === 'admitted') {
    return { outcome: 'admitted', decisionId, terms, shadow: outcome.shadow };
  }
  const footer = footerOf(policy.rules, outcome.violations);
  const text = rejectionText({
    request,
    violations: outcome.violations,
    terms,
    decisionId,
    nowMs,
    disclosure: evaluation.disclosure,
    ...(footer === undefined ? {} : { footer }),
  });
  const { violations, shadow } = outcome;
  return { outcome: 'rejected', decisionId, terms, violations, shadow, text, notice: notice ?? 'first' };
}

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
const decisionIdOf = (jobId: number, generation: number): string => `d-${jobId}-${generation}`;

/** Names and ids only: what a variable or an image said stays out of the log. */
function reportTrouble(request: AdmissionRequest, evaluation: Evaluation, log: Log): void {
  for (const { rule, cause } of evaluation.errors)
    log.error('rule failed', { rule, cause, jobId: request.jobId });
  for (const { rule, reason } of evaluation.exemptions)
    log.info('job exempt', { rule, reason, jobId: request.jobId });
  if (evaluation.unknownGroup) {
    log.warn('group not in the directory', {
      jobId: request.jobId,
      namespaceId: request.namespaceId,
      rootNamespaceId: request.rootNamespaceId,
    });
  }
}
