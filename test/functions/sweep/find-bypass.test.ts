import { expect, test } from 'vitest';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { house, range, VISIT_MS } from './house.ts';

const ids = (truths: readonly { readonly jobId: number }[]): number[] =>
  truths.map(({ jobId }) => jobId).sort((a, b) => a - b);

/** A house whose search has begun, with runner 7 known by an old job. */
async function begun(over: Parameters<typeof house>[0] = {}) {
  const one = house(over);
  one.gitlab.put(one.finished(1, 10));
  one.clock.advance(VISIT_MS);
  await one.sweep({ callsMax: 100 });
  one.clock.advance(VISIT_MS);
  return one;
}

test('what ran before Tollgate was asked anything is nobody’s bypass', async () => {
  const { charged, sweep } = await begun();
  await sweep();
  expect(charged).toEqual([]);
});

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

test('a job that runs without admission is charged at its end, however many newer ones pass it', async () => {
  const { charged, clock, gitlab, sweep, truth, finished } = await begun();
  gitlab.put(truth(2));
  clock.advance(VISIT_MS);
  await sweep();
  gitlab.put(...range(3, 250).map((jobId) => finished(jobId, 1)));
  clock.advance(VISIT_MS);
  await sweep();
  expect(ids(charged)).not.toContain(2);
  gitlab.put(finished(2, 90));
  clock.advance(VISIT_MS);
  await sweep();
  expect(ids(charged)).toContain(2);
});

test('an old job that a runner picks up late is seen while it runs, and charged', async () => {
  const { charged, clock, gitlab, hold, sweep, truth, finished } = await begun();
  // An admitted job keeps the runner on the list of those compared.
  await hold([900]);
  gitlab.put(truth(900), ...range(500, 300).map((jobId) => finished(jobId, 1)));
  for (let minute = 1; minute <= 3; minute += 1) {
    clock.advance(VISIT_MS);
    await sweep();
  }
  charged.length = 0;
  gitlab.put(truth(2));
  clock.advance(VISIT_MS);
  await sweep();
  gitlab.put(finished(2, 60));
  clock.advance(VISIT_MS);
  await sweep();
  expect(ids(charged)).toContain(2);
});

test('a search that is cut short goes on where it stopped and leaves nothing out', async () => {
  const { charged, clock, gitlab, sweep, finished } = await begun();
  gitlab.put(...range(2, 1_000).map((jobId) => finished(jobId, 1)));
  const seen = new Set<number>();
  for (let run = 1; run <= 8; run += 1) {
    clock.advance(VISIT_MS);
    // New ones come while the old are searched.
    gitlab.put(...range(2_000 + run * 10, 10).map((jobId) => finished(jobId, 1)));
    await sweep({ callsMax: 4, memory: newSweepMemory() });
  }
  for (const { jobId } of charged) seen.add(jobId);
  expect(range(2, 1_000).filter((jobId) => !seen.has(jobId))).toEqual([]);
});

test('a charge the table did not take is handed over again', async () => {
  let table = false;
  const handed: number[] = [];
  const { clock, gitlab, sweep, finished } = await begun({
    chargeBypass: async (truths) => {
      handed.push(...ids(truths));
      return truths.map(() => (table ? 'bypass' : 'undecided'));
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
