/**
 * Jobs that ran and that nobody admitted: every runner's jobs, newest first, down to the mark of the last search.
 *
 * A mark says "everything up to this id was looked at and is over". It stays below a job that still runs without an
 * admission, which can only be charged at its end; and it steps back below one that a list of running jobs showed, because
 * an old job may be picked up late.
 */
import type { JobTruth } from '../gitlab/job-truth.ts';
import type { RunnerMark, SweepMarks } from '../ledger/sweep-marks.ts';
import { atOnce } from './at-once.ts';
import { judgePage } from './judge-page.ts';
import { knownRunners } from './known-runners.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import type { SweepRun } from './sweep-run.ts';

export async function findBypass(run: SweepRun): Promise<void> {
  const { asking, clock, marks, memory } = run;
  if (!asking.mayAsk()) return;
  const before: SweepMarks = (await marks.read()) ?? { sinceMs: clock.nowMs(), runners: new Map() };
  const runners = new Map(before.runners);
  const sinceMs = before.sinceMs;
  const stepBack = await judgePage([...run.strangers.values()], sinceMs, run);
  for (const { runnerId, jobId } of stepBack.open) lower(runners, runnerId, jobId);

  const { runnerIds, complete } = await knownRunners(run, runners.keys());
  if (complete) forgetGone(runnerIds, runners, memory.visitedAtMs);
  const lastVisitMs = (runnerId: number): number => memory.visitedAtMs.get(runnerId) ?? 0;
  const longestNotVisited = runnerIds.toSorted((a, b) => lastVisitMs(a) - lastVisitMs(b) || a - b);
  await atOnce(longestNotVisited, CALLS_AT_ONCE, async (runnerId) => {
    if (!asking.mayAsk()) return;
    memory.visitedAtMs.set(runnerId, clock.nowMs());
    runners.set(runnerId, await searchRunner(runnerId, runners.get(runnerId) ?? { seenTo: 0 }, sinceMs, run));
  });
  await marks.write({ sinceMs, runners });
}

/** @returns the mark after: where everything below was looked at, or where to go on. */
async function searchRunner(
  runnerId: number,
  mark: RunnerMark,
  sinceMs: number,
  run: SweepRun,
): Promise<RunnerMark> {
  const { seenTo } = mark;
  let page = mark.going?.page;
  let top = mark.going?.top;
  for (;;) {
    const answer = await run.asking.jobsOfRunner(runnerId, page === undefined ? {} : { page });
    if (answer.kind !== 'said') {
      // A page that GitLab does not know any more would never be answered: begin at the newest again.
      if (answer.kind === 'failed' && answer.code === 'gitlab_unreadable') return { seenTo };
      return top === undefined || page === undefined ? { seenTo } : { seenTo, going: { top, page } };
    }
    const { jobs, next } = answer.value;
    const { open, undecided } = await judgePage(jobs, sinceMs, run);
    if (undecided) return mark;
    const ids = jobs.map(({ jobId }) => jobId);
    top = Math.min(top ?? Math.max(seenTo, ...ids), ...open.map(({ jobId }) => jobId - 1));
    const through =
      next === undefined || Math.min(...ids) <= seenTo || jobs.every((job) => isOlder(job, sinceMs));
    if (through) return { seenTo: Math.max(top, 0) };
    page = next;
  }
}

const isOlder = ({ startedAtMs, createdAtMs }: JobTruth, sinceMs: number): boolean =>
  (startedAtMs ?? createdAtMs ?? Number.POSITIVE_INFINITY) < sinceMs;

function forgetGone(runnerIds: readonly number[], ...maps: readonly Map<number, unknown>[]): void {
  const known = new Set(runnerIds);
  for (const map of maps) for (const runnerId of map.keys()) if (!known.has(runnerId)) map.delete(runnerId);
}

function lower(runners: Map<number, RunnerMark>, runnerId: number | undefined, jobId: number): void {
  if (runnerId === undefined) return;
  const mark = runners.get(runnerId);
  // A search under way comes to a higher mark than it should: the next list of running jobs lowers it again.
  if (mark !== undefined && mark.seenTo >= jobId) runners.set(runnerId, { ...mark, seenTo: jobId - 1 });
}
