import { expect, test } from 'vitest';
import type { SpendKey, SpendReport } from '../../../functions/answers/report/model.ts';
import { spendBooks } from '../../support/reports/spend-books.ts';
import { aJob, USERS } from '../console/house.ts';

const HOUR_MS = 3_600_000;
const BETA = { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 };

/** Saturday at noon: five jobs, of which one runs on. */
async function someJobs() {
  const books = spendBooks();
  const { clock, ask, ledger, roll, read, pack } = books;
  const settle = async (jobId: number, durationSeconds: number, outcome?: 'failed' | 'canceled') => {
    const how = outcome === undefined ? {} : { outcome };
    await ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs(), ...how }]);
    await roll();
  };
  await ask([
    aJob(11, { pipelineSource: 'push' }),
    aJob(12, { jobName: 'deploy', pipelineSource: 'schedule' }),
    aJob(13, { ref: 'refs/merge-requests/12/head', pipelineSource: 'merge_request_event' }),
    aJob(14, { ...BETA, pipelineSource: 'push' }),
    aJob(15, { ref: 'slow' }),
  ]);
  await settle(11, 60);
  await settle(12, 120, 'failed');
  await settle(13, 180, 'canceled');
  await settle(14, 240);
  const by = async (key: SpendKey, group = 'instance'): Promise<SpendReport> => {
    const answer = await read.spend({ by: key, group }, USERS.finance);
    if (answer.outcome !== 'reported') throw new Error(JSON.stringify(answer));
    const { rows, other, total } = answer.report;
    expect(rows.reduce((sum, { micros }) => sum + micros, other.micros)).toBe(total.micros);
    return answer.report;
  };
  const night = async (): Promise<void> => {
    clock.advance(24 * HOUR_MS);
    await pack();
  };
  return { ...books, settle, by, night };
}

const told = ({ rows }: SpendReport) => rows.map(({ name, micros }) => [name, micros]);

test('what jobs cost by branch, name, source and merge request; in all, or of a group', async () => {
  const { by, night, packTheJobs } = await someJobs();
  await night();
  expect(await packTheJobs(15)).toEqual({ days: 3, records: 5 });
  expect(told(await by('branch'))).toEqual([
    ['beta/ops/tools: main', 400_000],
    ['acme/payments/cards/api: main', 300_000],
    ['acme/payments/cards/api: refs/merge-requests/12/head', 300_000],
    ['acme/payments/cards/api: slow', 0],
  ]);
  expect(told(await by('branch', '200'))).toEqual([['beta/ops/tools: main', 400_000]]);
  expect(told(await by('job'))).toEqual([
    ['unit', 800_000],
    ['deploy', 200_000],
  ]);
  expect(told(await by('source', 'acme'))).toEqual([
    ['merge request event', 300_000],
    ['schedule', 200_000],
    ['push', 100_000],
  ]);
  expect(await by('outcome', 'acme')).toMatchObject({
    rows: [
      { name: 'canceled', micros: 300_000, jobs: 1 },
      { name: 'failed', micros: 200_000, jobs: 1 },
    ],
    other: { micros: 100_000 },
  });
  expect(told(await by('schedule'))).toEqual([['acme/payments/cards/api: schedules on main', 200_000]]);
  expect(told(await by('hour', 'acme'))).toEqual([['Sat 12:00', 600_000]]);
  const requests = await by('merge-request');
  expect(told(requests)).toEqual([['acme/payments/cards/api!12', 300_000]]);
  expect(requests.other).toMatchObject({ micros: 700_000, label: 'Jobs not split by merge request' });
});

test('what jobs of a group or a project cost by runner class, as of their decision and by what their records say', async () => {
  const { by, night, packTheJobs, ask, read } = await someJobs();
  await ask([aJob(16, { runnerTags: ['large'] })]);
  await night();
  const before = await by('class', 'acme');
  expect([told(before), before.other.micros]).toEqual([[], 600_000]);
  await packTheJobs(16);
  expect(told(await by('class', 'acme'))).toEqual([
    ['small', 600_000],
    ['large', 0],
  ]);
  expect(told(await by('class', '200'))).toEqual([['small', 400_000]]);
  const ofProject = await read.spend({ by: 'class', project: 2 }, USERS.finance);
  expect(ofProject).toMatchObject({
    report: {
      rows: [{ name: 'small', micros: 400_000, jobs: 1 }],
      other: { label: 'Jobs not split by runner class', micros: 0, jobs: 0 },
    },
  });
  expect(told(await by('class'))).toEqual([
    ['small', 1_000_000],
    ['large', 0],
  ]);
});

test('a day is packed once a night, and again the next nights, when more of its jobs have ended', async () => {
  const { by, night, packTheJobs, settle, clock } = await someJobs();
  await night();
  await packTheJobs(15);
  clock.advance(HOUR_MS);
  expect(await packTheJobs(15)).toEqual({ days: 0, records: 0 });
  await settle(15, 600);
  expect((await by('branch')).other.micros).toBe(0);
  await night();
  expect((await by('branch')).other.micros).toBe(1_000_000);
  expect(await packTheJobs(15)).toMatchObject({ days: 3 });
  expect(told(await by('branch'))[0]).toEqual(['acme/payments/cards/api: slow', 1_000_000]);
});
