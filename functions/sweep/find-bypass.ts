/**
 * Finds jobs that ran without an admission: reads every runner's jobs, newest first, down to the last search's checkpoint.
 * An ended job is charged if it was not yet; a running one without an admission is stored (`open`) and charged at its end.
 *
 * | a job without an admission | found at the latest |
 * | --- | --- |
 * | started above the checkpoint, or among its runner's newest hundred | in its runner's next visit: five minutes |
 * | on a list of running jobs in any run | in the run after its end |
 * | any other that started within a week of its creation, among its runner's newest 20 000 | in the next deep search: 6 h |
 */

import { atOnce } from '../core/environment/environment.ts';
import { type GitLabJob, isTerminal } from '../core/gitlab/gitlab.ts';
import type { RunnerCheckpoint, SweepCheckpoints } from '../core/ledger/checkpoints.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import { forgetSeen, type SweepRun } from './run.ts';
import { isUnderWay, judgePage, UntrackedJobs } from './untracked-jobs.ts';

interface Search {
  readonly run: SweepRun;
  readonly sinceMs: number;
  readonly untracked: UntrackedJobs;
}

export async function findBypass(run: SweepRun): Promise<void> {
  const { boundedGitLab, clock, marks, memory } = run;
  if (!boundedGitLab.mayAsk()) return;
  const nowMs = clock.nowMs();
  forgetSeen(memory, nowMs - DEEP_EVERY_MS - 2 * OVERLAP_MS);
  const known: SweepCheckpoints | undefined = await marks.read();
  const before = known ?? { sinceMs: nowMs, runners: new Map(), open: new Map() };
  const { sinceMs } = before;
  const runners = new Map(before.runners);
  const untracked = new UntrackedJobs(before.open);
  const search: Search = { run, sinceMs, untracked };
  await untracked.meet(
    [...run.untracked.values()].filter((gitlabJob) => !ranBefore(gitlabJob, sinceMs)),
    run,
  );

  const { runnerIds, complete } = await knownRunners(run, runners.keys());
  const listed = new Set(runnerIds);
  const gone = complete ? [...runners.keys()].filter((runnerId) => !listed.has(runnerId)) : [];
  for (const runnerId of gone) runners.delete(runnerId);
  for (const runnerId of memory.visits.keys()) if (!listed.has(runnerId)) memory.visits.delete(runnerId);
  const lastVisitMs = (runnerId: number): number => memory.visits.get(runnerId) ?? 0;
  const due = runnerIds.filter((runnerId) =>
    isVisitDue(runnerId, runners.get(runnerId), lastVisitMs(runnerId), nowMs),
  );
  const longestNotVisited = due.sort((a, b) => lastVisitMs(a) - lastVisitMs(b) || a - b);
  await atOnce(longestNotVisited, CALLS_AT_ONCE, async (runnerId) => {
    if (!boundedGitLab.mayAsk()) return;
    const mark = runners.get(runnerId) ?? { seenTo: 0, passMs: 0, deepMs: sinceMs };
    runners.set(runnerId, await searchRunner(runnerId, mark, search));
  });
  await untracked.askAboutUnshown(run, complete);
  if (known === undefined || due.length > 0 || gone.length > 0 || untracked.changed)
    await marks.write({ sinceMs, runners, open: untracked.open });
}

/** @returns the mark after: where everything below was looked at, or where to go on. */
async function searchRunner(
  runnerId: number,
  mark: RunnerCheckpoint,
  search: Search,
): Promise<RunnerCheckpoint> {
  const { clock, boundedGitLab, memory } = search.run;
  const nowMs = clock.nowMs();
  const { going: resumed, ...whole } = mark;
  const pass = resumed ?? { startMs: nowMs, deep: isDeepDue(runnerId, mark.deepMs, nowMs) };
  let top = resumed?.top ?? mark.seenTo;
  let page = resumed?.page;
  memory.visits.set(runnerId, nowMs);
  for (let pages = 1; ; pages += 1) {
    const answer = await boundedGitLab.listJobs(`runners/${runnerId}`, { page });
    if (answer.kind !== 'answered') {
      // A page that GitLab does not know any more would never be answered: begin at the newest again.
      const lost = answer.kind === 'failed' && answer.code === 'gitlab_unreadable';
      return lost || page === undefined ? whole : { ...whole, going: { ...pass, top, page } };
    }
    const { jobs, next } = answer.value;
    if (!(await lookAt(jobs, mark, pass, search))) return mark;
    for (const { jobId } of jobs) top = Math.max(top, jobId);
    if (next === undefined || isThrough(jobs, mark, { ...pass, pages, sinceMs: search.sinceMs })) {
      return { seenTo: top, passMs: pass.startMs, deepMs: pass.deep ? pass.startMs : mark.deepMs };
    }
    page = next;
  }
}

async function lookAt(
  jobs: readonly GitLabJob[],
  mark: RunnerCheckpoint,
  pass: Pass,
  { run, sinceMs, untracked }: Search,
): Promise<boolean> {
  const { seenAtMs } = run.memory;
  const fresh: GitLabJob[] = [];
  for (const gitlabJob of jobs) {
    if (untracked.has(gitlabJob.jobId)) {
      if (untracked.show(gitlabJob, run) === 'over') fresh.push(gitlabJob);
    } else if (
      // The last search saw most jobs. The checkpoint's `seenTo` and `passMs` exclude them.
      isToJudge(gitlabJob, mark, pass) &&
      !seenAtMs.has(gitlabJob.jobId) &&
      !ranBefore(gitlabJob, sinceMs) &&
      (isTerminal(gitlabJob.status) || isUnderWay(gitlabJob))
    )
      fresh.push(gitlabJob);
  }
  if (fresh.length === 0) return true;
  const isFirst = (gitlabJob: GitLabJob): boolean =>
    untracked.has(gitlabJob.jobId) || isNewSince(gitlabJob, mark);
  const judged = await judgePage(fresh, run, isFirst);
  if (judged.undecided || !untracked.add(judged.untracked)) return false;
  for (const gitlabJob of fresh) if (isTerminal(gitlabJob.status)) untracked.remove(gitlabJob.jobId);
  return true;
}

const PAGES_MAX = 100;

/** `complete`: a runner that is not among them is gone. */
async function knownRunners({ boundedGitLab, memory }: SweepRun, marked: Iterable<number>) {
  const runnerIds = new Set<number>();
  let page: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages += 1) {
    const answer = await boundedGitLab.runners(page);
    if (answer.kind !== 'answered') break;
    for (const runnerId of answer.value.runnerIds) runnerIds.add(runnerId);
    page = answer.value.next;
    if (page === undefined) return { runnerIds: [...runnerIds], complete: true };
  }
  for (const runnerId of [...marked, ...memory.runners]) runnerIds.add(runnerId);
  return { runnerIds: [...runnerIds], complete: false };
}

// GitLab lists a runner's jobs by id, assigned when the pipeline is made; but a job is listed from its start, which may be late. So the
// id shows where to stop, and the start whether the last search saw it.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** GitLab's clock may be five minutes off, and a list is a moment behind. */
const OVERLAP_MS = 10 * MINUTE_MS;
/** A job that started below the mark and was too short for any list of running ones is found by the next deep search. */
const DEEP_EVERY_MS = 6 * HOUR_MS;
/** GitLab delays a job by a week at most, and gives up on a waiting one after a day. */
const LATE_MS = 7 * 24 * HOUR_MS;
/** A page has a hundred jobs: where one runner's id stands for a whole fleet, a week would have no end. */
const DEEP_PAGES_MAX = 200;
/** Every fifth minute, less the schedule's tolerance. Nothing waits for it: unadmitted jobs take no slot, and webhooks usually charge them. */
const VISIT_EVERY_MS = 4.5 * MINUTE_MS;

type Pass = Pick<NonNullable<RunnerCheckpoint['going']>, 'startMs' | 'deep'>;

function isDeepDue(runnerId: number, deepMs: number, nowMs: number): boolean {
  const phaseMs = (((runnerId * 2_654_435_761) % 2 ** 32) / 2 ** 32) * DEEP_EVERY_MS;
  const round = (atMs: number): number => Math.floor((atMs + phaseMs) / DEEP_EVERY_MS);
  return round(nowMs) > round(deepMs);
}

const isVisitDue = (
  runnerId: number,
  mark: RunnerCheckpoint | undefined,
  visitedAtMs: number,
  nowMs: number,
) =>
  mark === undefined ||
  mark.going !== undefined ||
  nowMs - visitedAtMs >= VISIT_EVERY_MS ||
  isDeepDue(runnerId, mark.deepMs, nowMs);

const isNewSince = (gitlabJob: GitLabJob, { seenTo, passMs }: RunnerCheckpoint): boolean =>
  gitlabJob.jobId > seenTo || beganMs(gitlabJob) >= passMs - OVERLAP_MS;

const isToJudge = (gitlabJob: GitLabJob, mark: RunnerCheckpoint, { deep }: Pass): boolean =>
  isNewSince(gitlabJob, mark) || (deep && beganMs(gitlabJob) >= mark.deepMs - OVERLAP_MS);

/** A job without any time never ran: its start will be new. */
const beganMs = ({ startedAtMs, finishedAtMs }: GitLabJob): number =>
  startedAtMs ?? finishedAtMs ?? Number.NEGATIVE_INFINITY;

function isThrough(
  jobs: readonly GitLabJob[],
  mark: RunnerCheckpoint,
  { deep, pages, sinceMs }: Pass & { readonly pages: number; readonly sinceMs: number },
): boolean {
  if (jobs.length === 0) return false;
  if (deep) return pages >= DEEP_PAGES_MAX || jobs.every((job) => createdMs(job) < mark.deepMs - LATE_MS);
  return jobs.some(({ jobId }) => jobId <= mark.seenTo) || jobs.every((job) => ranBefore(job, sinceMs));
}

const ranBefore = ({ startedAtMs, createdAtMs, status }: GitLabJob, sinceMs: number): boolean =>
  startedAtMs === undefined
    ? isTerminal(status) && (createdAtMs ?? sinceMs) < sinceMs
    : startedAtMs < sinceMs;

const createdMs = ({ createdAtMs, startedAtMs }: GitLabJob): number =>
  createdAtMs ?? startedAtMs ?? Number.POSITIVE_INFINITY;
