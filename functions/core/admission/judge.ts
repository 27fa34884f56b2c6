/** Evaluates requests and asks the ledger; on limits that turn out to be old, once more. */
import { type Evaluation, evaluate } from '../../../policies/evaluate.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { METRIC_UNKNOWN_GROUPS } from '../../names.ts';
import type { WaitingTerms } from '../contract/index.ts';
import type { Log } from '../environment/index.ts';
import type { HoldAsk, HoldOutcome, WaitAsk } from '../ledger/index.ts';
import type { DecideDeps, Rules, WaitLookup } from './decide-deps.ts';

/** A request that parsed and was evaluated. */
export interface Evaluated {
  readonly request: AdmissionRequest;
  readonly evaluation: Evaluation;
}

/** What the ledger said of it, and what that rests on. */
export interface JudgedJob extends Evaluated {
  readonly outcome: HoldOutcome;
  readonly policy: Policy;
  readonly nowMs: number;
}

interface JudgeDeps extends DecideDeps {
  /** Absent: the caller keeps no job waiting. */
  readonly waitOf?: WaitLookup | undefined;
}

/** One per request, same order. */
export async function judgeRequests(
  requests: readonly AdmissionRequest[],
  deadlineMs: number,
  deps: JudgeDeps,
): Promise<readonly JudgedJob[]> {
  const rules = await deps.currentRules(requests);
  const judged = await judgeBy(rules, requests, deadlineMs, deps);
  const stale = judged.filter(isStale).map(({ request }) => request);
  if (stale.length === 0) return judged;
  const anew = (await judgeAnew(stale, deadlineMs, deps)).values();
  return judged.map((one) => (isStale(one) ? (anew.next().value ?? one) : one));
}

const isStale = ({ outcome }: JudgedJob): boolean =>
  outcome.outcome === 'undecided' && outcome.cause === 'stale_limits';

/** On the limits that are in force by now, and without asking again: limits that change twice a second still decide. */
async function judgeAnew(
  requests: readonly AdmissionRequest[],
  deadlineMs: number,
  deps: JudgeDeps,
): Promise<readonly JudgedJob[]> {
  try {
    const { limitsAreCurrent: _, ...rules } = await deps.currentRules(requests);
    return await judgeBy(rules, requests, deadlineMs, deps);
  } catch (error) {
    // Others of the batch are held by now, and their answer must not be lost with these.
    deps.log.error('limits not read again', {
      error: error instanceof Error ? error.name : 'unknown failure',
    });
    return [];
  }
}

async function judgeBy(
  rules: Rules,
  requests: readonly AdmissionRequest[],
  deadlineMs: number,
  deps: JudgeDeps,
): Promise<readonly JudgedJob[]> {
  const { policy, limitsAreCurrent } = rules;
  const estimator = (await deps.estimatorFor?.(requests, policy.estimate, deadlineMs)) ?? rules.estimator;
  const nowMs = deps.clock.nowMs();
  const evaluated = requests.map((request): Evaluated => {
    const evaluation = evaluate(request, { ...rules, estimator, nowMs });
    reportTrouble(request, evaluation, deps.log);
    if (evaluation.unknownGroup) deps.metrics?.add(METRIC_UNKNOWN_GROUPS, 1);
    return { request, evaluation };
  });
  deps.rooms?.look(evaluated.flatMap(({ evaluation }) => evaluation.claims));
  const outcomes = await deps.ledger.hold(
    evaluated.map((one) => {
      const wait = deps.waitOf?.(one.request.jobId);
      return { ...toHoldAsk(one), decidedAtMs: nowMs, ...(wait !== undefined && { wait }) };
    }),
    deadlineMs,
    {
      ...(limitsAreCurrent && { limitsAreCurrent }),
      ...(deps.onContended && { onContended: deps.onContended }),
    },
  );
  deps.rooms?.held(
    evaluated.flatMap(({ evaluation }, index) =>
      outcomes[index]?.outcome === 'admitted' ? evaluation.claims : [],
    ),
  );
  return evaluated.map((one, index) => ({ ...one, outcome: outcomes[index] ?? UNANSWERED, policy, nowMs }));
}

const UNANSWERED: HoldOutcome = { outcome: 'undecided', cause: 'unavailable' };

/** What the ledger needs of an evaluated request, but for when it was evaluated. */
export function toHoldAsk({ request, evaluation }: Evaluated): HoldAsk {
  return {
    jobId: request.jobId,
    facts: evaluation.facts,
    violations: evaluation.violations,
    claims: evaluation.claims,
    ...(evaluation.breakGlass !== undefined && { breakGlass: evaluation.breakGlass }),
    ...(evaluation.metered && { unchecked: 'exempt' as const }),
  };
}

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

const NEVER_WAITED: WaitAsk = { waitedMs: 0, last: false, behind: new Set() };

/** What a caller tells of jobs that it keeps waiting, as the ledger asks for it, by job; those that are not named wait for the first time, behind everybody. */
export function waitsOf({ lines = [], jobs = [] }: WaitingTerms): WaitLookup {
  const others = lines.length === 0 ? NEVER_WAITED : { ...NEVER_WAITED, behind: new Set(lines) };
  const byJob = new Map<number, WaitAsk>();
  for (const { jobId, waitedMs, turn = [], last = false } of jobs)
    byJob.set(jobId, { waitedMs, last, behind: new Set(lines.filter((name) => !turn.includes(name))) });
  return (jobId) => byJob.get(jobId) ?? others;
}
