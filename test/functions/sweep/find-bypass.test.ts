import { expect, test } from 'vitest';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { house, range, VISIT_MS } from './house.ts';

const ids = (gitlabJobs: readonly { readonly jobId: number }[]): number[] =>
  gitlabJobs.map(({ jobId }) => jobId).sort((a, b) => a - b);

/** A house whose search has begun, with runner 7 known by an old job. */
async function begun(over: Parameters<typeof house>[0] = {}) {
  const one = house(over);
  one.gitlab.put(one.finished(1, 10));
  one.clock.advance(VISIT_MS);
  await one.sweep({ callsMax: 100 });
  one.clock.advance(VISIT_MS);
  return one;
}

test('a job that ran without a record is handed over once, an admitted one and a rejected one never', async () => {
  const { charged, clock, gitlab, hold, sweep, finished } = await begun();
  await hold([3]);
  gitlab.put(
    finished(2, 10),
    finished(3, 10),
    finished(4, 1, { status: 'failed', failureReason: 'job_router_failure' }),
    { jobId: 5, projectId: 1, runnerId: 7, status: 'canceled' },
  );
  clock.advance(VISIT_MS);
  expect(await sweep()).toMatchObject({ bypass: 1, settled: 1 });
  clock.advance(VISIT_MS);
  gitlab.put(finished(300, 10));
  await sweep({ memory: newSweepMemory() });
  expect(ids(charged)).toContain(2);
  expect(ids(charged).filter((jobId) => jobId !== 2)).toEqual([300]);
});

test('a charge the table did not take is handed over again', async () => {
  let table = false;
  const handed: number[] = [];
  const { clock, gitlab, sweep, finished } = await begun({
    chargeBypass: async (gitlabJobs) => {
      handed.push(...ids(gitlabJobs));
      return gitlabJobs.map(() => (table ? 'bypass' : 'undecided'));
    },
  });
  gitlab.put(finished(2, 10), finished(3, 10));
  clock.advance(VISIT_MS);
  await sweep();
  table = true;
  // If the mark were behind both, the next first page would end between them.
  clock.advance(VISIT_MS);
  gitlab.put(...range(10, 99).map((jobId) => finished(jobId, 1)));
  expect(await sweep()).toMatchObject({ bypass: 101 });
  expect(handed.filter((jobId) => jobId === 2)).toHaveLength(2);
});
