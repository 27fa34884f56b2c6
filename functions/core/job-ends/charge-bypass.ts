/** Charges jobs that ran and have no record: on the counters of today's rules, unchecked `bypass`. */

import { evaluate } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Rules } from '../admission/judge.ts';
import { errorName, type LedgerClock, type Log } from '../environment/environment.ts';
import type { GitLabJob } from '../gitlab/gitlab.ts';
import { type ControllerScope, isOutOfScope } from '../ledger/controller.ts';
import type { BypassRequest, EndOutcome, JobEnd, Ledger } from '../ledger/ledger.ts';
import { inParts } from '../store/parts.ts';
import { endOfJob } from './actions.ts';

export interface ChargeDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'recordBypass'>;
  readonly currentRules: (jobs: readonly GitLabJob[]) => Promise<Rules>;
  readonly scope?: () => Promise<ControllerScope | undefined>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

export type ChargeOutcome =
  | Exclude<EndedOutcome, 'unknown'>
  | 'bypass'
  /** It ran on a runner that GitLab does not ask us about: charged nothing. */
  | 'out_of_scope'
  | 'never_ran';

interface RanJob {
  readonly gitlabJob: GitLabJob;
  readonly end: JobEnd;
}

/**
 * Returns one outcome per job, same order; each job comes once. A job that got a record since is settled.
 * `undecided`: the table gave no answer, or the rules cannot be read; charge it again.
 */
export async function chargeBypass(
  gitlabJobs: readonly GitLabJob[],
  deps: ChargeDeps,
): Promise<readonly ChargeOutcome[]> {
  const nowMs = deps.clock.nowMs();
  const ran = gitlabJobs.flatMap((gitlabJob): RanJob[] => {
    const found = endOfJob(gitlabJob, nowMs);
    return found.kind === 'ran' ? [{ gitlabJob, end: found.end }] : [];
  });
  const ends = ran.map(({ end }) => end);
  const settled = await endEach(ends, (some) => deps.ledger.settle(some), deps.log);
  const unknown = ran.filter((_, index) => settled[index] === 'unknown');
  const outcomes = await recordUnknown(unknown, deps);
  ran.forEach(({ end: { jobId } }, index) => {
    const outcome = settled[index] ?? 'undecided';
    if (outcome !== 'unknown') outcomes.set(jobId, outcome);
  });
  return gitlabJobs.map(({ jobId }) => outcomes.get(jobId) ?? 'never_ran');
}

async function recordUnknown(
  jobs: readonly RanJob[],
  { ledger, currentRules, scope, clock, log }: ChargeDeps,
): Promise<Map<number, ChargeOutcome>> {
  const outcomes = new Map<number, ChargeOutcome>();
  if (jobs.length === 0) return outcomes;
  const currentScope = await scope?.();
  const nowMs = clock.nowMs();
  const inScope = jobs.filter(({ gitlabJob }) => !isOutOfScope(gitlabJob, currentScope, nowMs));
  const setAll = (some: readonly RanJob[], outcome: ChargeOutcome): void => {
    for (const { gitlabJob } of some) outcomes.set(gitlabJob.jobId, outcome);
  };
  setAll(jobs, 'out_of_scope');
  if (inScope.length === 0) return outcomes;
  let rules: Rules;
  try {
    rules = await currentRules(inScope.map(({ gitlabJob }) => gitlabJob));
  } catch (error) {
    log.error('rules unreadable: jobs without admission wait', {
      error: errorName(error),
      jobs: inScope.length,
    });
    setAll(inScope, 'undecided');
    return outcomes;
  }
  setAll(inScope, 'failed');
  const requests = inScope.flatMap((job) => bypassRequest(job, rules, clock.nowMs(), log));
  const recorded = await endEach(requests, (some) => ledger.recordBypass(some), log);
  requests.forEach(({ jobId }, index) => {
    const outcome = recorded[index] ?? 'undecided';
    outcomes.set(jobId, outcome === 'applied' || outcome === 'unknown' ? 'bypass' : outcome);
  });
  return outcomes;
}

/** Makes the claims that an admission request would have made. None if the job cannot be evaluated. */
function bypassRequest(
  { gitlabJob, end }: RanJob,
  rules: Rules,
  nowMs: number,
  log: Log,
): readonly BypassRequest[] {
  const { jobId, projectId } = gitlabJob;
  try {
    const decidedAtMs = admittedAtMs(gitlabJob, end, nowMs);
    // Without a timeout the policy's is assumed, and cuts nothing.
    const { facts, claims, unknownGroup } = evaluate(admissionRequest(gitlabJob), {
      ...rules,
      nowMs: decidedAtMs,
    });
    log.warn('job ran without admission', { jobId, projectId, unknownGroup });
    return [{ ...end, decidedAtMs, facts, claims, violations: [], unchecked: 'bypass' }];
  } catch (error) {
    log.error('job without admission could not be evaluated', { jobId, error: errorName(error) });
    return [];
  }
}

/** Jobs that started earlier are charged to today's period: their own may be closed. Shorter than the month that periods stay open. */
const LATE_MS = 28 * DAY_MS;

function admissionRequest(gitlabJob: GitLabJob): AdmissionRequest {
  const { jobId, projectId, projectPath, jobName, jobStage, pipelineId, userId, ref, environment } =
    gitlabJob;
  const { runnerId, runnerTags } = gitlabJob;
  const more = { projectPath, jobName, jobStage, pipelineId, userId, ref, environment, runnerId, runnerTags };
  return { jobId, projectId, ...withoutAbsent(more) };
}

/** A job belongs to the period of its admission, which would have been just before its start. */
function admittedAtMs({ startedAtMs }: GitLabJob, { endedAtMs, durationSeconds }: JobEnd, nowMs: number) {
  const atMs = startedAtMs ?? endedAtMs - durationSeconds * 1000;
  return atMs > nowMs || nowMs - atMs > LATE_MS ? nowMs : atMs;
}

/** The ledger gives each call 10 s; this many ends are some five transactions. */
const JOBS_PER_CALL_MAX = 100;

/** `failed`: the ledger throws at this job, also if the call has no other. A retry does not help; logged. */
export type EndedOutcome = EndOutcome | 'failed';

/** Ends many jobs in one call of the ledger. A job that makes it throw does not take the others along. */
export async function endEach<Job extends { readonly jobId: number }>(
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
