import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Directory } from '../../../policies/directory.ts';
import type { EstimateSettings, Estimator } from '../../../policies/estimate.ts';
import { type Evaluation, evaluate } from '../../../policies/evaluate.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { FUNCTION_METRIC } from '../../names.ts';
import type { DirectoryRequest, DirectoryResponse, WaitingTerms } from '../contract/admissions.ts';
import { errorName, type LedgerClock, type Log } from '../environment/environment.ts';
import { type KnownCounter, knownCounter } from '../ledger/counter.ts';
import { newJob } from '../ledger/hold-job.ts';
import type {
  Counter,
  HoldOptions,
  HoldOutcome,
  HoldRequest,
  Ledger,
  RecordClaim,
  WaitAsk,
} from '../ledger/ledger.ts';
import { weigh } from '../ledger/weigh.ts';
import type { Metrics } from '../metrics.ts';
import type { RulesFile } from '../published-rules.ts';
import type { BatchRooms } from './limit-rooms.ts';

export interface Evaluated {
  readonly request: AdmissionRequest;
  readonly evaluation: Evaluation;
}

export interface JudgedJob extends Evaluated {
  readonly outcome: HoldOutcome;
  readonly policy: Policy;
  readonly nowMs: number;
}

interface JudgeDeps extends DecideDeps {
  readonly waitOf?: WaitLookup | undefined;
}

export async function judgeRequests(
  requests: readonly AdmissionRequest[],
  deadlineMs: number,
  deps: JudgeDeps,
): Promise<readonly JudgedJob[]> {
  const rules = await deps.currentRules(requests);
  const judged = await judgeBy(rules, requests, deadlineMs, deps);
  const stale = judged.filter(isStale).map(({ request }) => request);
  if (stale.length === 0) return judged;
  try {
    // Not checked again, so that frequent edits cannot prevent a decision.
    const { limitsAreCurrent: _, ...current } = await deps.currentRules(stale);
    const again = await judgeBy(current, stale, deadlineMs, deps);
    const byRequest = new Map(again.map((one) => [one.request, one]));
    return judged.map((one) => byRequest.get(one.request) ?? one);
  } catch (error) {
    // Others of the batch are held by now, and their answer must not be lost with these.
    deps.log.error('limits not read again', { error: errorName(error) });
    return judged;
  }
}

const isStale = ({ outcome }: JudgedJob): boolean =>
  outcome.outcome === 'undecided' && outcome.cause === 'stale_limits';

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
    logFindings(request, evaluation, deps.log);
    if (evaluation.unknownGroup) deps.metrics?.add(FUNCTION_METRIC.unknownGroups, 1);
    return { request, evaluation };
  });
  deps.rooms?.look(evaluated.flatMap(({ evaluation }) => evaluation.claims));
  const outcomes = await deps.ledger.hold(
    evaluated.map((one) => {
      const wait = deps.waitOf?.(one.request.jobId);
      return { ...toHoldAsk(one), decidedAtMs: nowMs, ...withoutAbsent({ wait }) };
    }),
    deadlineMs,
    withoutAbsent({ limitsAreCurrent, onContended: deps.onContended, onPacked: deps.onPacked }),
  );
  deps.rooms?.held(
    evaluated.flatMap(({ evaluation }, index) =>
      outcomes[index]?.outcome === 'admitted' ? evaluation.claims : [],
    ),
  );
  return evaluated.map((one, index) => ({ ...one, outcome: outcomes[index] ?? UNANSWERED, policy, nowMs }));
}

const UNANSWERED: HoldOutcome = { outcome: 'undecided', cause: 'unavailable' };

export function toHoldAsk({ request, evaluation }: Evaluated): HoldRequest {
  const { facts, violations, claims, breakGlass, metered } = evaluation;
  return {
    ...{ jobId: request.jobId, facts, violations, claims },
    ...withoutAbsent({ breakGlass, unchecked: metered ? ('exempt' as const) : undefined }),
  };
}

/** Names and ids only: what a variable or an image said stays out of the log. */
function logFindings(
  { jobId, namespaceId, rootNamespaceId }: AdmissionRequest,
  { errors, exemptions, unknownGroup }: Evaluation,
  log: Log,
): void {
  for (const { rule, cause } of errors) log.error('rule failed', { rule, cause, jobId });
  for (const { rule, reason } of exemptions) log.info('job exempt', { rule, reason, jobId });
  if (unknownGroup) log.warn('group not in the directory', { jobId, namespaceId, rootNamespaceId });
}

const NEVER_WAITED: WaitAsk = { waitedMs: 0, last: false, behind: new Set() };

/** A job without an entry waits for the first time, behind all others. */
export function waitsOf({ lines = [], jobs = [] }: WaitingTerms): WaitLookup {
  const others = lines.length === 0 ? NEVER_WAITED : { ...NEVER_WAITED, behind: new Set(lines) };
  const byJob = new Map<number, WaitAsk>();
  for (const { jobId, waitedMs, turn = [], last = false } of jobs)
    byJob.set(jobId, { waitedMs, last, behind: new Set(lines.filter((name) => !turn.includes(name))) });
  return (jobId) => byJob.get(jobId) ?? others;
}

export interface Rules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
  readonly estimator: Estimator;
  /** Checks if the limits are still in force; true on a timeout. Absent: they never change. */
  readonly limitsAreCurrent?: (timeoutMs: number) => Promise<boolean>;
}

export type HandOutDirectory = (have: DirectoryRequest['have']) => Promise<DirectoryResponse>;

export interface DecideDeps {
  readonly ledger: Ledger;
  readonly currentRules: (requests: readonly AdmissionRequest[]) => Promise<Rules>;
  /** Absent: the rules' own estimator. Never throws. */
  readonly estimatorFor?: (
    requests: readonly AdmissionRequest[],
    settings: EstimateSettings,
    deadlineMs: number,
  ) => Promise<Estimator>;
  readonly handOutDirectory?: HandOutDirectory;
  /** For relays. Absent: the policy never changes. Undefined: a newer one may be current. */
  readonly handOutPolicy?: () => Promise<RulesFile['policy'] | undefined>;
  readonly rooms?: BatchRooms;
  readonly consoleUrl?: string | undefined;
  readonly onContended?: HoldOptions['onContended'];
  readonly onPacked?: HoldOptions['onPacked'];
  readonly clock: LedgerClock;
  readonly log: Log;
  readonly metrics?: Metrics;
}

export type WaitLookup = (jobId: number) => WaitAsk;

// The decision on a job as of now, by the same evaluation and weighing as an admission. Writes nothing.

export interface CurrentDecision {
  readonly outcome: 'admitted' | 'rejected';
  readonly violations: readonly Violation[];
  /** Violations that would reject it if they were enforced, and soft limits that it passes. */
  readonly shadow: readonly Violation[];
  /** Time that the relay may keep it waiting, ms. Absent: it is rejected immediately. */
  readonly waitMs?: number;
}

/** Counters as they were read, by `counterName`. A counter that is not there was never written. */
export type CountersNow = Pick<ReadonlyMap<string, Counter>, 'get'>;

/** Every counter that the decision depends on, those of a pipeline's grace and of a break-glass included. */
export const countersAsked = ({ claims, breakGlass }: Evaluation): readonly CounterKey[] =>
  [...claims, ...(breakGlass?.claims ?? [])].flatMap(({ counter, grace }) =>
    grace === undefined ? [counter] : [counter, grace.pipeline],
  );

/** Decides as `hold` does when it has seen every counter. @param own - claims that do not count against the job */
export function decideNow(
  job: Evaluated,
  counters: CountersNow,
  nowMs: number,
  own: readonly RecordClaim[] = [],
): CurrentDecision {
  const known = new Map(
    countersAsked(job.evaluation).map((key) => {
      const name = counterName(key);
      const mine = own.filter((claim) => counterName(claim.counter) === name);
      return [name, without(mine, knownCounter(counters.get(name), nowMs))];
    }),
  );
  const [decision] = weigh([newJob(toHoldAsk(job))], known).weighedJobs;
  const { violations = [], shadow = [], waitMs } = decision ?? {};
  const outcome = violations.length > 0 ? 'rejected' : 'admitted';
  return { outcome, violations, shadow, ...withoutAbsent({ waitMs }) };
}

function without(mine: readonly RecordClaim[], seen: KnownCounter): KnownCounter {
  let { committed, fitted, settled } = seen;
  for (const claim of mine) {
    const charged = claim.counted + claim.corrected;
    committed -= charged;
    if (claim.fitted) fitted -= charged;
  }
  settled = Math.min(settled, committed);
  return { ...seen, committed, fitted, settled };
}
