/** How the ledger learns that jobs ended: what the month needs of settlement and sweep, and nothing else of them. */
import type { Rules } from '../../functions/admit/decide.ts';
import { GitLabError } from '../../functions/gitlab/gitlab.ts';
import { isTerminal, type JobTruth } from '../../functions/gitlab/job-truth.ts';
import type { Ledger, LedgerClock } from '../../functions/ledger/ledger.ts';
import { settleTruths } from '../../functions/settle/settle-truths.ts';
import { silentLog } from '../../functions/shared/log.ts';
import type { SimulatedGitLab } from './simulated-gitlab.ts';
import type { LiveHold, WatchedStore } from './watched-store.ts';

export interface Ends {
  /** Words of GitLab's about jobs. Returns those the table did not take: they come again. */
  tell(truths: readonly JobTruth[]): Promise<readonly JobTruth[]>;
  /** Every minute: asks GitLab about live holds it no longer runs. */
  sweep(): Promise<void>;
  /** Every hour: looks for jobs that ran and never asked. */
  findBypass(): Promise<void>;
  /** How often each outcome came. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface EndsDeps {
  readonly ledger: Ledger;
  readonly store: WatchedStore;
  readonly gitlab: SimulatedGitLab;
  readonly clock: LedgerClock;
  readonly rules: Rules;
}

/** A hold younger than this may be on its way to its runner. */
const LIVE_AGE_MS = 2 * 60_000;
/** Jobs on their last seconds are found an hour later. */
const BYPASS_AGE_MS = 10 * 60_000;

export function ledgerEnds({ ledger, store, gitlab, clock, rules }: EndsDeps): Ends {
  const counts: Record<string, number> = {};
  /** Every job of a runner up to this id has been seen after its end. */
  const seenUntil = new Map<number, number>();
  const count = (what: string, by = 1): void => {
    if (by > 0) counts[what] = (counts[what] ?? 0) + by;
  };

  async function tell(truths: readonly JobTruth[]): Promise<readonly JobTruth[]> {
    if (truths.length === 0) return [];
    const deps = { ledger, currentRules: async () => rules, clock, log: silentLog };
    const outcomes = await settleTruths(truths, deps);
    for (const outcome of outcomes) count(outcome);
    return truths.filter((_, index) => outcomes[index] === 'undecided');
  }

  async function sweep(): Promise<void> {
    const nowMs = clock.nowMs();
    const old = [...store.live.values()].filter(({ decidedAtMs }) => nowMs - decidedAtMs > LIVE_AGE_MS);
    if (old.length === 0) return;
    await whileThere(count, async () => {
      const running = await runningJobs(gitlab);
      const truths: JobTruth[] = [];
      const unknown: LiveHold[] = [];
      for (const hold of old) {
        if (running.has(hold.jobId)) continue;
        const truth = await gitlab.job(hold.projectId, hold.jobId);
        if (truth === undefined) unknown.push(hold);
        else if (isTerminal(truth.status)) truths.push(truth);
      }
      count('swept', truths.length);
      await tell(truths);
      // A job that is not there may not have arrived yet: it gets until its hold is due.
      const gone = unknown.filter(({ dueAtMs }) => dueAtMs <= nowMs);
      const expired = await ledger.expire(
        gone.map(({ jobId }) => ({ jobId, cause: 'unknown_to_gitlab', charge: 'nothing' })),
      );
      count('expired', expired.filter((outcome) => outcome === 'applied').length);
    });
  }

  async function findBypass(): Promise<void> {
    await whileThere(count, async () => {
      for (const runnerId of (await gitlab.runners()).runnerIds) {
        const { ended, until } = await endedSince(runnerId, seenUntil.get(runnerId) ?? 0);
        const unseen = ended.filter(({ jobId }) => !store.known.has(jobId));
        count('bypass found', unseen.length);
        if ((await tell(unseen)).length === 0) seenUntil.set(runnerId, until);
      }
    });
  }

  async function endedSince(runnerId: number, after: number) {
    const ended: JobTruth[] = [];
    let until = Number.POSITIVE_INFINITY;
    let newest = after;
    for (let page: string | undefined; ; ) {
      const { jobs, next } = await gitlab.jobsOfRunner(runnerId, page === undefined ? {} : { page });
      for (const truth of jobs) {
        if (truth.jobId <= after) continue;
        newest = Math.max(newest, truth.jobId);
        if (isTerminal(truth.status) && clock.nowMs() - (truth.finishedAtMs ?? 0) > BYPASS_AGE_MS)
          ended.push(truth);
        else until = Math.min(until, truth.jobId - 1);
      }
      if (next === undefined || Number(next) <= after) return { ended, until: Math.min(until, newest) };
      page = next;
    }
  }

  return { tell, sweep, findBypass, counts };
}

/** Nothing is freed while GitLab is away: the next minute asks again. */
async function whileThere(count: (what: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    count('gitlab away');
  }
}

async function runningJobs(gitlab: SimulatedGitLab): Promise<ReadonlySet<number>> {
  const running = new Set<number>();
  for (const runnerId of (await gitlab.runners()).runnerIds) {
    for (let page: string | undefined; ; ) {
      const { jobs, next } = await gitlab.jobsOfRunner(runnerId, {
        status: 'running',
        ...(page !== undefined && { page }),
      });
      for (const { jobId } of jobs) running.add(jobId);
      if (next === undefined) break;
      page = next;
    }
  }
  return running;
}
