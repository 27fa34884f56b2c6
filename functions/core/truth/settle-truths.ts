/**
 * In any order, repeatedly, before the decision or days later: a job's charge depends only on its final outcome.
 *
 * | GitLab says | record | |
 * | --- | --- | --- |
 * | not ended yet (also `running`) | any | ignored |
 * | ended, ran | HELD, RUNNING | SETTLED at GitLab's duration |
 * | | SETTLED | a correction entry if the duration differs |
 * | | RELEASED, EXPIRED | SETTLED by a correction entry |
 * | | REJECTED | SETTLED, unchecked `bypass`, flagged |
 * | | none | SETTLED, unchecked `bypass`, on the counters of today's rules |
 * | | none, on a runner out of the controller's scope | nothing: out of scope |
 * | rejected by the router, or ended and never ran | HELD, RUNNING | RELEASED; reported if by the router |
 * | | any other, or none | nothing to release |
 */

import { evaluate } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Rules } from '../admission/judge.ts';
import { errorName, type LedgerClock, type Log } from '../environment/environment.ts';
import { type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import { type ControllerScope, isOutOfScope } from '../ledger/controller.ts';
import type { BypassAsk, EndOutcome, GoneJob, JobEnd, Ledger } from '../ledger/ledger.ts';
import type { YetFailedStore } from '../store/health-items.ts';
import { inParts } from '../store/parts.ts';
import { type EndOfJob, endOfJob, outdoes } from './verdict.ts';

export interface SettleDeps extends BypassDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'recordBypass'>;
}

export type TruthOutcome =
  | Exclude<EndedOutcome, 'unknown'>
  | 'bypass'
  /** It was admitted and the router failed it: released. Reported once per job. */
  | 'admitted_yet_failed'
  /** It ran on a runner that GitLab does not ask us about: charged nothing. */
  | 'out_of_scope'
  /** Nothing to do: not ended, or unknown and never ran. */
  | 'ignored'
  /** Ended, but how long it ran is not said: its hold waits for the sweep. */
  | 'unclear';

/** One outcome per truth, same order; those of one job have one outcome. `undecided`: no answer yet, say it again. */
export async function settleTruths(
  truths: readonly JobTruth[],
  deps: SettleDeps,
): Promise<readonly TruthOutcome[]> {
  const outcomes = new Map<number, TruthOutcome>();
  const gone: GoneJob[] = [];
  const ran: BypassedJob[] = [];
  for (const { truth, what } of lastWords(truths, deps.clock.nowMs())) {
    outcomes.set(truth.jobId, what.kind === 'unclear' ? 'unclear' : 'ignored');
    if (what.kind === 'gone') gone.push({ jobId: truth.jobId, cause: what.cause });
    if (what.kind === 'ran') ran.push({ truth, end: what.end });
  }
  await release(gone, outcomes, deps);
  await settle(ran, outcomes, deps);
  return truths.map(({ jobId }) => outcomes.get(jobId) ?? 'ignored');
}

/** One word per job, by root group: jobs that share counters then share transactions. */
function lastWords(truths: readonly JobTruth[], nowMs: number) {
  const byJob = new Map<number, { readonly truth: JobTruth; readonly what: EndOfJob }>();
  for (const truth of truths) {
    const what = endOfJob(truth, nowMs);
    const known = byJob.get(truth.jobId);
    if (known === undefined || outdoes(what, known.what)) byJob.set(truth.jobId, { truth, what });
  }
  const byRoot = Map.groupBy(byJob.values(), ({ truth: { projectPath, projectId } }) =>
    projectPath === undefined ? projectId : projectPath.slice(0, projectPath.indexOf('/')),
  );
  return [...byRoot.values()].flat();
}

async function release(
  jobs: readonly GoneJob[],
  outcomes: Map<number, TruthOutcome>,
  { ledger, log }: SettleDeps,
): Promise<void> {
  const released = await together(jobs, (some) => ledger.release(some), log);
  const yetFailed: number[] = [];
  jobs.forEach(({ jobId, cause }, index) => {
    const outcome = released[index] ?? 'undecided';
    outcomes.set(jobId, outcome === 'unknown' ? 'ignored' : outcome);
    // Only admitted jobs held amounts, and only the first release reports it.
    if (outcome !== 'applied' || cause !== REJECTED_BY_ROUTER) return;
    outcomes.set(jobId, 'admitted_yet_failed');
    yetFailed.push(jobId);
  });
  tellAdmittedYetFailed(yetFailed, log);
}

async function settle(
  jobs: readonly BypassedJob[],
  outcomes: Map<number, TruthOutcome>,
  deps: SettleDeps,
): Promise<void> {
  const ends = jobs.map(({ end }) => end);
  const settled = await together(ends, (some) => deps.ledger.settle(some), deps.log);
  const unknown = jobs.filter((_, index) => settled[index] === 'unknown');
  const charged = await chargeBypass(unknown, deps);
  jobs.forEach(({ truth }, index) => {
    const outcome = settled[index] ?? 'undecided';
    if (outcome !== 'unknown') outcomes.set(truth.jobId, outcome);
  });
  unknown.forEach(({ truth }, index) => {
    const outcome = charged[index] ?? 'undecided';
    outcomes.set(truth.jobId, outcome === 'applied' || outcome === 'unknown' ? 'bypass' : outcome);
  });
}

const JOBS_SHOWN_MAX = 50;

/** Failed with `job_router_failure`: the decision arrived wrong or too late, or another controller refused it. */
export function tellAdmittedYetFailed(jobIds: readonly number[], log: Log): void {
  if (jobIds.length === 0) return;
  log.warn('admitted, yet failed by the job router', {
    jobs: jobIds.length,
    jobIds: jobIds.slice(0, JOBS_SHOWN_MAX).map(String),
  });
}

/** Stores the last of them for the watchdog. Their ends are already settled, so a failure here is ignored. */
export async function noteAdmittedYetFailed(
  jobIds: readonly number[],
  deps: {
    readonly yetFailed: Pick<YetFailedStore, 'write'>;
    readonly clock: { nowMs(): number };
    readonly log: Log;
  },
): Promise<void> {
  const jobId = jobIds.at(-1);
  if (jobId === undefined) return;
  try {
    await deps.yetFailed.write({ jobId, atMs: deps.clock.nowMs() });
  } catch (error) {
    deps.log.error('a job that failed although admitted is not noted: the watchdog does not hear of it', {
      error: error instanceof Error ? error.message : '',
    });
  }
}

interface BypassDeps {
  readonly ledger: Pick<Ledger, 'recordBypass'>;
  readonly currentRules: (jobs: readonly JobTruth[]) => Promise<Rules>;
  readonly scope?: () => Promise<ControllerScope | undefined>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

interface BypassedJob {
  readonly truth: JobTruth;
  readonly end: JobEnd;
}

/** Jobs that ran and have no record, by the rules of now; they must differ. `undecided` also where the rules cannot be read. */
export async function chargeBypass(
  jobs: readonly BypassedJob[],
  deps: BypassDeps,
): Promise<readonly (EndedOutcome | 'out_of_scope')[]> {
  if (jobs.length === 0) return [];
  const scope = await deps.scope?.();
  const nowMs = deps.clock.nowMs();
  const inScope = jobs.filter(({ truth }) => !isOutOfScope(truth, scope, nowMs));
  const charged = await chargeAll(inScope, deps);
  const outcomes = new Map(inScope.map(({ truth }, index) => [truth.jobId, charged[index] ?? 'undecided']));
  return jobs.map(({ truth }) => outcomes.get(truth.jobId) ?? 'out_of_scope');
}

async function chargeAll(
  jobs: readonly BypassedJob[],
  { ledger, currentRules, clock, log }: BypassDeps,
): Promise<readonly EndedOutcome[]> {
  if (jobs.length === 0) return [];
  let rules: Rules;
  try {
    rules = await currentRules(jobs.map(({ truth }) => truth));
  } catch (error) {
    log.error('rules unreadable: jobs without admission wait', {
      error: errorName(error),
      jobs: jobs.length,
    });
    return jobs.map(() => 'undecided');
  }
  const asks = jobs.flatMap((job) => askOf(job, rules, clock.nowMs(), log));
  const recorded = await together(asks, (some) => ledger.recordBypass(some), log);
  const outcomes = new Map(asks.map(({ jobId }, index) => [jobId, recorded[index] ?? 'undecided']));
  return jobs.map(({ truth }) => outcomes.get(truth.jobId) ?? 'failed');
}

/** Claims that a job without an admission request would have made. None if it cannot be evaluated. */
function askOf({ truth, end }: BypassedJob, rules: Rules, nowMs: number, log: Log): readonly BypassAsk[] {
  const { jobId, projectId } = truth;
  try {
    const decidedAtMs = admittedAtMs(truth, end, nowMs);
    // Without a timeout the policy's is assumed, and cuts nothing.
    const { facts, claims, unknownGroup } = evaluate(requestOf(truth), { ...rules, nowMs: decidedAtMs });
    log.warn('job ran without admission', { jobId, projectId, unknownGroup });
    return [{ ...end, decidedAtMs, facts, claims, violations: [], unchecked: 'bypass' }];
  } catch (error) {
    log.error('job without admission could not be evaluated', { jobId, error: errorName(error) });
    return [];
  }
}

/** Jobs that started earlier are charged to today's period: their own may be closed. Shorter than the month that periods stay open. */
const LATE_MS = 28 * DAY_MS;

function requestOf(truth: JobTruth): AdmissionRequest {
  const { jobId, projectId, projectPath, jobName, jobStage, pipelineId, userId, ref, environment } = truth;
  const { runnerId, runnerTags } = truth;
  const more = { projectPath, jobName, jobStage, pipelineId, userId, ref, environment, runnerId, runnerTags };
  return { jobId, projectId, ...withoutAbsent(more) };
}

/** A job belongs to the period of its admission, which would have been just before its start. */
function admittedAtMs(
  { startedAtMs }: JobTruth,
  { endedAtMs, durationSeconds }: JobEnd,
  nowMs: number,
): number {
  const atMs = startedAtMs ?? endedAtMs - durationSeconds * 1000;
  return atMs > nowMs || nowMs - atMs > LATE_MS ? nowMs : atMs;
}

/** The ledger gives each call 10 s; this many ends are some five transactions. */
const JOBS_PER_CALL_MAX = 100;

/** `failed`: the ledger throws at this job, also when it comes alone. No retry will help; logged. */
export type EndedOutcome = EndOutcome | 'failed';

/** Many jobs in one call of the ledger. A job that makes it throw does not take the others along. */
export async function together<Job extends { readonly jobId: number }>(
  jobs: readonly Job[],
  call: (some: readonly Job[]) => Promise<readonly EndOutcome[]>,
  log: Log,
): Promise<readonly EndedOutcome[]> {
  const callWith = async (some: readonly Job[]): Promise<readonly EndedOutcome[]> => {
    try {
      const answers = await call(some);
      return some.map((_, index) => answers[index] ?? 'undecided');
    } catch (error) {
      const [only, ...others] = some;
      if (others.length === 0) {
        log.error('end of job refused by the ledger', { jobId: only?.jobId, error: errorName(error) });
        return ['failed'];
      }
      const alone: EndedOutcome[] = [];
      for (const job of some) alone.push(...(await callWith([job])));
      return alone;
    }
  };
  const outcomes: EndedOutcome[] = [];
  for (const part of inParts(jobs, JOBS_PER_CALL_MAX)) outcomes.push(...(await callWith(part)));
  return outcomes;
}
