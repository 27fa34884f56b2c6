/** GitLab calls for comparing reported ends with its REST API, by volume and by the spread over projects and runners. */
import { expect, test } from 'vitest';
import { GitLabError, type GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import type { GitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { hintText } from '../../../functions/core/job-ends/webhook-hints.ts';
import { INBOX_SLOT_MS, inboxSlot } from '../../../functions/core/store/keys.ts';
import type { SweepDeps, SweepReport } from '../../../functions/sweep/run.ts';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { house, MINUTE_MS, range } from './house.ts';

/** Ends in half an hour if a month has a million jobs, and if a day has them. */
const MONTHLY = 700;
const DAILY = 20_833;
/** The sweep compares the ends of the first half hour. Newer jobs precede them in GitLab's lists. */
const HALF_HOURS = 3;
const PAGE = 100;
const GROUP = 100;

/** A half hour of reported ends that agree with GitLab. The jobs of a runner are in many projects. */
async function reportedHalfHour(count: number, projects: number, runners: number) {
  const world = house();
  const { clock, ledger } = world;
  const gitlabJobs = range(1, HALF_HOURS * count).map((jobId) => {
    const spread = Math.imul(jobId, 2_654_435_761) >>> 0;
    return world.finished(jobId, 60, { runnerId: 1 + (jobId % runners), projectId: 1 + (spread % projects) });
  });
  await world.hold([1]);
  await ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: clock.nowMs() + MINUTE_MS }]);
  const record = await ledger.readRecord(1);
  if (record === undefined) throw new Error('job 1 was held');
  const recordOf = (jobId: number) => {
    const projectId = gitlabJobs[jobId - 1]?.projectId ?? 0;
    return { ...record, jobId, facts: { ...record.facts, rootId: GROUP, projectId } };
  };
  const gitlab = gitlabWith(gitlabJobs);
  const slot = inboxSlot(clock.nowMs());
  const bodies = gitlabJobs.slice(0, count).map((gitlabJob) => hintText({ groupId: GROUP, gitlabJob }));
  const checkpoints: number[] = [];
  clock.advance(1.5 * INBOX_SLOT_MS);
  let memory = newSweepMemory();
  const sweep = (over: Partial<SweepDeps> = {}): Promise<SweepReport> =>
    world.sweep({
      memory,
      gitlab,
      ledger: {
        ...ledger,
        readRecords: async (jobIds) => jobIds.map(recordOf),
        settle: async () => {
          throw new Error('all ends agree');
        },
      },
      reported: {
        read: async (asked) => (asked === slot ? bodies : []),
        readCheckpoint: async () => checkpoints.at(-1) ?? slot,
        writeCheckpoint: async (next) => void checkpoints.push(next),
      },
      ...over,
    });
  /** @returns runs until the half hour is compared. */
  const sweepThrough = async (over: Partial<SweepDeps> = {}): Promise<number> => {
    for (let runs = 1; runs <= 400; runs += 1) {
      await sweep(over);
      if (checkpoints.length > 0) return runs;
      clock.advance(MINUTE_MS);
    }
    throw new Error('400 runs were not enough');
  };
  const restart = (): void => {
    memory = newSweepMemory();
  };
  return { clock, gitlab, checkpoints, slot, sweep, sweepThrough, restart };
}

/** GitLab's REST API over jobs that do not change, newest first. */
function gitlabWith(gitlabJobs: readonly GitLabJob[]) {
  const newest = gitlabJobs.toReversed();
  const lists = new Map<string, GitLabJob[]>([
    ...Map.groupBy(newest, ({ runnerId }) => `runners/${runnerId}`),
    ...Map.groupBy(newest, ({ projectId }) => `projects/${projectId}`),
  ]);
  const calls = { all: 0, pagesOfProjects: 0 };
  const faults = { onCall: (_call: number): void => {}, onJob: (_jobId: number): void => {} };
  const called = (): void => {
    calls.all += 1;
    faults.onCall(calls.all);
  };
  const gitlab: GitLab = {
    job: async (projectId, jobId) => {
      called();
      faults.onJob(jobId);
      const gitlabJob = gitlabJobs[jobId - 1];
      return gitlabJob?.projectId === projectId ? gitlabJob : undefined;
    },
    listJobs: async (list, { page = '0' }) => {
      called();
      if (list.startsWith('projects/')) calls.pagesOfProjects += 1;
      const jobs = lists.get(list) ?? [];
      const to = Number(page) + PAGE;
      return { jobs: jobs.slice(Number(page), to), ...(to < jobs.length && { next: `${to}` }) };
    },
    runners: async () => {
      faults.onCall(calls.all);
      return { runnerIds: [] };
    },
  };
  return { ...gitlab, calls, faults };
}

/** Of its own for each job. */
const OWN = Number.MAX_SAFE_INTEGER;

// Calls per million jobs, and runs until a half hour is compared.
test.each([
  [MONTHLY, 1, OWN, 30_000, 1],
  // No list shows two of them.
  [MONTHLY, 5_000, OWN, 1_000_000, 1],
  [DAILY, 1, 50, 30_000, 2],
  [DAILY, 5_000, OWN, 240_004, 13],
])(
  '%d ends in half an hour, in %d projects, on %d runners',
  async (count, projects, runners, calls, runs) => {
    const { gitlab, checkpoints, slot, sweepThrough } = await reportedHalfHour(count, projects, runners);
    expect(await sweepThrough()).toBe(runs);
    expect(Math.round((gitlab.calls.all / count) * 1_000_000)).toBe(calls);
    expect(checkpoints).toEqual([slot + 1]);
  },
);

test('a run reads at most 400 pages of projects, and leaves the other projects to the next runs', async () => {
  const { gitlab, checkpoints, sweep } = await reportedHalfHour(4_000, 1_000, OWN);
  const pages: number[] = [];
  while (checkpoints.length === 0) {
    const before = gitlab.calls.pagesOfProjects;
    await sweep();
    pages.push(gitlab.calls.pagesOfProjects - before);
  }
  expect(pages).toEqual([400, 400, 200]);
});

test('while GitLab answers nothing, no end counts as compared', async () => {
  const { gitlab, clock, checkpoints, sweep, sweepThrough } = await reportedHalfHour(3, OWN, OWN);
  gitlab.faults.onCall = () => {
    throw new GitLabError('gitlab_unavailable', '502');
  };
  for (let minute = 1; minute <= 5; minute += 1) {
    await sweep();
    clock.advance(MINUTE_MS);
  }
  expect(checkpoints).toEqual([]);
  gitlab.faults.onCall = () => {};
  expect(await sweepThrough()).toBe(1);
});
