/**
 * Compares live holds older than two minutes with running jobs, so that a lost webhook does not block a slot: lists the running jobs of
 * runners that had live holds, then looks up holds that no list shows, the longest not looked at first.
 */

import { atOnce } from '../core/environment/environment.ts';
import type { GitLabJob } from '../core/gitlab/gitlab.ts';
import { actionForHold, type LiveHold } from '../core/job-ends/actions.ts';
import { CALLS_AT_ONCE, type FoundHandler, listRunning, lookUp, readLiveHolds } from './look-up.ts';
import { keepLive, rememberRunner, type SweepRun } from './run.ts';

/** Younger ones may not have started, and their webhook may be on its way. */
const AGE_MS_MIN = 2 * 60_000;

export async function compareLive(run: SweepRun): Promise<void> {
  const { live, liveIds, clock, boundedGitLab, memory, checkedJobIds, untracked } = run;
  keepLive(memory, liveIds, clock.nowMs());
  for (const jobId of checkedJobIds) if (liveIds.has(jobId)) memory.lookedAtMs.set(jobId, clock.nowMs());
  if (!boundedGitLab.mayAsk()) return;

  const unseen = new Map(
    live.filter(({ jobId }) => !checkedJobIds.has(jobId)).map((job) => [job.jobId, job]),
  );
  await atOnce([...memory.runners], CALLS_AT_ONCE, async (runnerId) => {
    if (!boundedGitLab.mayAsk()) return;
    const before = unseen.size;
    await listRunning(`runners/${runnerId}`, boundedGitLab, (gitlabJob) => {
      if (unseen.delete(gitlabJob.jobId)) noteRunning(gitlabJob, run);
      else if (!liveIds.has(gitlabJob.jobId)) untracked.set(gitlabJob.jobId, gitlabJob);
    });
    if (boundedGitLab.mayAsk() && unseen.size === before) memory.runners.delete(runnerId);
  });

  const lookedAtMs = (jobId: number): number => memory.lookedAtMs.get(jobId) ?? 0;
  const longestNotLookedAt = [...unseen.keys()].sort((a, b) => lookedAtMs(a) - lookedAtMs(b) || a - b);
  const suspects = await readLiveHolds(longestNotLookedAt, run);
  const nowMs = clock.nowMs();
  const old = suspects.filter(({ decidedAtMs }) => nowMs - decidedAtMs > AGE_MS_MIN);
  await lookUp(old, boundedGitLab, foundHandler(run));
  await run.concluding.flush();
}

const foundHandler =
  (run: SweepRun): FoundHandler<LiveHold> =>
  async (hold, answer) => {
    const { clock, concluding, memory, tally, checkedJobIds } = run;
    if (answer.kind === 'answered' && answer.value?.status === 'running')
      return noteRunning(answer.value, run);
    // A failure writes nothing: the hold is not due yet, and the next minute asks again, after all others.
    memory.lookedAtMs.set(hold.jobId, clock.nowMs());
    checkedJobIds.add(hold.jobId);
    if (answer.kind !== 'answered') return;
    tally.verified += 1;
    const action = actionForHold(hold, answer.value, clock.nowMs());
    // Due since this run began: the next run asks if the token sees enough to believe a 404.
    if (action.do !== 'expire') await concluding.take(action);
  };

function noteRunning(
  { jobId, runnerId }: GitLabJob,
  { clock, memory, tally, checkedJobIds }: SweepRun,
): void {
  memory.lookedAtMs.set(jobId, clock.nowMs());
  checkedJobIds.add(jobId);
  tally.verified += 1;
  rememberRunner(memory, jobId, runnerId);
}
