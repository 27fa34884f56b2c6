/**
 * Finds jobs that ran without an admission: reads every runner's jobs, newest first, down to the last search's checkpoint.
 *
 * Each job is judged once, when the search first meets it. An ended job is charged if it was not yet. A running, held job
 * belongs to the check of live holds. A running job without an admission is stored (`open`) and charged at its end. So a job
 * costs at most one read of its record, and none if it was met while it ran.
 *
 * With lost checkpoints, repeated runs and any order of starts, it finds:
 *
 * | a job without an admission | at the latest |
 * | --- | --- |
 * | started above the checkpoint, or among its runner's newest hundred | in its runner's next visit: five minutes, ten on an idle runner; in the run after its end if it was seen while it ran |
 * | on a list of running jobs in any run | in the run after its end |
 * | any other that started within a week of its creation, among its runner's newest 20 000 | in the next deep search: 6 h |
 *
 * while GitLab answers and a run's calls suffice. Jobs from before the first search are not a bypass.
 */

import { atOnce } from '../core/environment/index.ts';
import { isTerminal, type JobTruth } from '../core/gitlab/index.ts';
import type { RunnerMark, SweepMarks } from '../core/ledger/index.ts';
import { isUnderWay, judgePage } from './judge-page.ts';
import { knownRunners } from './known-runners.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import { OpenStrangers } from './open-strangers.ts';
import {
  DEEP_EVERY_MS,
  isDeepDue,
  isNewSince,
  isThrough,
  isToJudge,
  isVisitDue,
  OVERLAP_MS,
  ranBefore,
} from './runner-pass.ts';
import { forgetSeen } from './sweep-memory.ts';
import type { SweepRun } from './sweep-run.ts';

interface Search {
  readonly run: SweepRun;
  readonly sinceMs: number;
  readonly strangers: OpenStrangers;
}

export async function findBypass(run: SweepRun): Promise<void> {
  const { asking, clock, marks, memory } = run;
  if (!asking.mayAsk()) return;
  const nowMs = clock.nowMs();
  forgetSeen(memory, nowMs - DEEP_EVERY_MS - 2 * OVERLAP_MS);
  const known: SweepMarks | undefined = await marks.read();
  const before = known ?? { sinceMs: nowMs, runners: new Map(), open: new Map() };
  const { sinceMs } = before;
  const runners = new Map(before.runners);
  const strangers = new OpenStrangers(before.open);
  const search: Search = { run, sinceMs, strangers };
  await strangers.meet(
    [...run.strangers.values()].filter((truth) => !ranBefore(truth, sinceMs)),
    run,
  );

  const { runnerIds, complete } = await knownRunners(run, runners.keys());
  const listed = new Set(runnerIds);
  const gone = complete ? [...runners.keys()].filter((runnerId) => !listed.has(runnerId)) : [];
  for (const runnerId of gone) runners.delete(runnerId);
  for (const runnerId of memory.visits.keys()) if (!listed.has(runnerId)) memory.visits.delete(runnerId);
  const due = runnerIds.filter((runnerId) =>
    isVisitDue(runnerId, runners.get(runnerId), memory.visits.get(runnerId), nowMs),
  );
  const lastVisitMs = (runnerId: number): number => memory.visits.get(runnerId)?.atMs ?? 0;
  const longestNotVisited = due.sort((a, b) => lastVisitMs(a) - lastVisitMs(b) || a - b);
  await atOnce(longestNotVisited, CALLS_AT_ONCE, async (runnerId) => {
    if (!asking.mayAsk()) return;
    const mark = runners.get(runnerId) ?? { seenTo: 0, passMs: 0, deepMs: sinceMs };
    runners.set(runnerId, await searchRunner(runnerId, mark, search));
  });
  await strangers.askAboutUnshown(run, complete);
  if (known === undefined || due.length > 0 || gone.length > 0 || strangers.changed)
    await marks.write({ sinceMs, runners, open: strangers.open });
}

/** @returns the mark after: where everything below was looked at, or where to go on. */
async function searchRunner(runnerId: number, mark: RunnerMark, search: Search): Promise<RunnerMark> {
  const { clock, asking, memory } = search.run;
  const nowMs = clock.nowMs();
  const { going: resumed, ...whole } = mark;
  const pass = resumed ?? { startMs: nowMs, deep: isDeepDue(runnerId, mark.deepMs, nowMs) };
  let { top, page }: { top: number; page: string | undefined } = resumed ?? {
    top: mark.seenTo,
    page: undefined,
  };
  const visit = memory.visits.get(runnerId);
  const visited = (newAtMs: number): void => {
    memory.visits.set(runnerId, { atMs: nowMs, newAtMs });
  };
  visited(visit?.newAtMs ?? nowMs);
  for (let pages = 1; ; pages += 1) {
    const answer = await asking.listJobs(`runners/${runnerId}`, page === undefined ? {} : { page });
    if (answer.kind !== 'said') {
      // A page that GitLab does not know any more would never be answered: begin at the newest again.
      const lost = answer.kind === 'failed' && answer.code === 'gitlab_unreadable';
      return lost || page === undefined ? whole : { ...whole, going: { ...pass, top, page } };
    }
    const { jobs, next } = answer.value;
    const looked = await lookAt(jobs, mark, pass, search);
    if (looked === 'again') return mark;
    if (looked === 'new') visited(nowMs);
    for (const { jobId } of jobs) top = Math.max(top, jobId);
    if (next === undefined || isThrough(jobs, mark, { ...pass, pages, sinceMs: search.sinceMs })) {
      return { seenTo: top, passMs: pass.startMs, deepMs: pass.deep ? pass.startMs : mark.deepMs };
    }
    page = next;
  }
}

/** `again`: not all of it could be decided or remembered. */
async function lookAt(
  jobs: readonly JobTruth[],
  mark: RunnerMark,
  pass: { readonly startMs: number; readonly deep: boolean },
  { run, sinceMs, strangers }: Search,
): Promise<'new' | 'nothing new' | 'again'> {
  const { seenAtMs } = run.memory;
  const fresh: JobTruth[] = [];
  for (const truth of jobs) {
    if (strangers.has(truth.jobId)) {
      if (strangers.show(truth, run) === 'over') fresh.push(truth);
    } else if (
      // Most were there at the last search: that is said by two numbers.
      isToJudge(truth, mark, pass) &&
      !seenAtMs.has(truth.jobId) &&
      !ranBefore(truth, sinceMs) &&
      (isTerminal(truth.status) || isUnderWay(truth))
    )
      fresh.push(truth);
  }
  if (fresh.length === 0) return 'nothing new';
  const isFirst = (truth: JobTruth): boolean => strangers.has(truth.jobId) || isNewSince(truth, mark);
  const judged = await judgePage(fresh, run, isFirst);
  if (judged.undecided || !strangers.add(judged.strangers)) return 'again';
  for (const truth of fresh) if (isTerminal(truth.status)) strangers.remove(truth.jobId);
  return 'new';
}
