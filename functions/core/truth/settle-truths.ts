/**
 * Settles job outcomes from GitLab in the ledger. They may come in any order, repeatedly, before the admission's
 * decision or days later: a job's charge depends only on its final outcome.
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

import type { Log } from '../environment/index.ts';
import { type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/index.ts';
import type { GoneJob, Ledger } from '../ledger/index.ts';
import type { YetFailedStore } from '../store/index.ts';
import { type BypassDeps, type BypassedJob, chargeBypass } from './charge-bypass.ts';
import { type EndOfJob, endOfJob, outdoes } from './end-of-job.ts';
import { type EndedOutcome, together } from './together.ts';

export interface SettleDeps extends BypassDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'recordBypass'>;
}

export type TruthOutcome =
  | Exclude<EndedOutcome, 'unknown'>
  /** It ran without an admission and is charged now. */
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

interface LastWord {
  readonly truth: JobTruth;
  readonly what: EndOfJob;
}

/** One word per job, by root group: jobs that share counters then share transactions. */
function lastWords(truths: readonly JobTruth[], nowMs: number): readonly LastWord[] {
  const byJob = new Map<number, LastWord & { readonly root: string }>();
  for (const truth of truths) {
    const what = endOfJob(truth, nowMs);
    const known = byJob.get(truth.jobId);
    if (known === undefined || outdoes(what, known.what)) {
      byJob.set(truth.jobId, { truth, what, root: truthRootOf(truth) });
    }
  }
  return [...byJob.values()].sort((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0));
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
  jobs.forEach((job, index) => {
    const { jobId } = job.truth;
    const outcome = settled[index] ?? 'undecided';
    if (outcome !== 'unknown') outcomes.set(jobId, outcome);
  });
  unknown.forEach(({ truth }, index) => {
    const outcome = charged[index] ?? 'undecided';
    outcomes.set(truth.jobId, outcome === 'applied' || outcome === 'unknown' ? 'bypass' : outcome);
  });
}

/**
 * Groups jobs that share counters: by the first part of their path. Only an order; a project without a path
 * is its own group.
 */
function truthRootOf({ projectPath, projectId }: JobTruth): string {
  const slash = projectPath?.indexOf('/') ?? -1;
  return slash > 0 && projectPath !== undefined
    ? projectPath.slice(0, slash).toLowerCase()
    : `project/${projectId}`;
}

/** A line of a log holds these and stays readable; the metric counts all. */
const JOBS_SHOWN_MAX = 50;

/**
 * Logs jobs that were admitted and that the router failed with `job_router_failure`: the decision arrived
 * wrong or too late, or another controller refused them. One line for all.
 */
export function tellAdmittedYetFailed(jobIds: readonly number[], log: Log): void {
  if (jobIds.length === 0) return;
  log.warn('admitted, yet failed by the job router', {
    jobs: jobIds.length,
    jobIds: jobIds.slice(0, JOBS_SHOWN_MAX).map(String),
  });
}

interface NoteDeps {
  readonly yetFailed: Pick<YetFailedStore, 'write'>;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

/** Stores the last of them for the watchdog. Their ends are already settled, so a failure here is ignored. */
export async function noteAdmittedYetFailed(
  jobIds: readonly number[],
  { yetFailed, clock, log }: NoteDeps,
): Promise<void> {
  const jobId = jobIds.at(-1);
  if (jobId === undefined) return;
  try {
    await yetFailed.write({ jobId, atMs: clock.nowMs() });
  } catch (error) {
    log.error('a job that failed although admitted is not noted: the watchdog does not hear of it', {
      error: error instanceof Error ? error.message : '',
    });
  }
}
