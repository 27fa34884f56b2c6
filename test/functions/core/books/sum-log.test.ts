import { expect, test } from 'vitest';
import { dynamoSumLog } from '../../../../functions/core/books/sum-log.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { epochAt } from '../../../../functions/core/ledger/slots.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { itemBytes } from '../../../../functions/core/store/operation.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { aRecord, INSTANCE, settled } from '../../../support/ledger/rollup-bench.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const EPOCH = epochAt(NOVEMBER_21_MS);
const SUBJECTS = ['instance', 'group/100', 'group/101', 'group/104', 'project/7', 'runner-class/small'];

const job = (jobId: number): JobRecord => {
  const amounts = { held: 600, counted: 600, corrected: 0, fitted: true, checked: true } as const;
  const claims = SUBJECTS.map((subject) => ({
    counter: counter(subject),
    unit: 'micros' as const,
    ...amounts,
  }));
  return aRecord({ jobId: 4_711_000 + jobId, claims });
};

/** Both steps of so many jobs. */
const stepsOf = (jobs: number) =>
  Array.from({ length: jobs }, (_, index) => index + 1).flatMap((jobId) => {
    const held = job(jobId);
    const ran = settled(held, 60 + jobId);
    const after = { ...ran, claims: ran.claims.map((claim) => ({ ...claim, counted: 500 + jobId })) };
    return [
      { sequence: `${jobId}-1`, epoch: EPOCH, after: held },
      { sequence: `${jobId}-2`, epoch: EPOCH, before: held, after },
    ];
  });

const logOn = (table: MemoryTable) => dynamoSumLog({ table, instance: INSTANCE });

test.each([
  { jobs: 1, unitsPerJob: 1 },
  { jobs: 10, unitsPerJob: 0.2 },
  { jobs: 100, unitsPerJob: 0.1 },
])('a batch of both steps of $jobs jobs takes at most $unitsPerJob write units a job', async (each) => {
  const table = new MemoryTable();
  await logOn(table).note(stepsOf(each.jobs), [], NOVEMBER_21_MS);
  const [item] = table.items();
  expect(table.items()).toHaveLength(1);
  // The formula knows no bytes.
  const bytes = itemBytes({ ...item, li: { S: '' } }) + (item?.li?.B?.length ?? 0);
  expect(Math.ceil(bytes / 1024) / each.jobs).toBeLessThanOrEqual(each.unitsPerJob);
});

test('what is delivered twice, in whatever batches, is read once; what an older program wrote is no part of it', async () => {
  const table = new MemoryTable();
  const log = logOn(table);
  const steps = stepsOf(5);
  await log.note(steps, [], NOVEMBER_21_MS);
  await log.note(steps.slice(3), [], NOVEMBER_21_MS);
  await log.note(steps.slice(0, 7), [], NOVEMBER_21_MS);
  const older = job(99);
  await log.note([{ sequence: '9', after: older }], [], NOVEMBER_21_MS);
  // The same record in other words.
  await log.note([{ sequence: '9', epoch: EPOCH, before: older, after: older }], [], NOVEMBER_21_MS);
  const { lines } = await log.read(EPOCH);
  expect(lines.map(([jobId, rev]) => `${jobId}/${rev}`).sort()).toEqual(
    steps.map(({ after }) => `${after.jobId}/${after.rev}`).sort(),
  );
});

test('counters of pipelines, windows and users are no part of it: no user’s id stands in another key', async () => {
  const table = new MemoryTable();
  const [first] = stepsOf(1);
  if (first === undefined) throw new Error('a job has steps');
  const others = [
    counter('user/9'),
    counter('pipeline/3', 'grace', 'once'),
    counter('group/1', 'jobs', '2026-11-21'),
  ];
  const claims = first.after.claims
    .slice(0, 1)
    .flatMap((claim) => [claim, ...others.map((key) => ({ ...claim, counter: key }))]);
  await logOn(table).note([{ ...first, after: { ...first.after, claims } }], [], NOVEMBER_21_MS);
  const { lines } = await logOn(table).read(EPOCH);
  expect(lines.flatMap(([, , changes]) => changes.map(([pk]) => pk))).toEqual([
    'gitlab.example.com#counter#instance|money-month|2026-11',
  ]);
});

test('what changes no counter that is summed is not written down', async () => {
  const table = new MemoryTable();
  const [first] = stepsOf(1);
  if (first === undefined) throw new Error('a job has steps');
  const claims = first.after.claims.slice(0, 1).map((claim) => ({ ...claim, counter: counter('user/9') }));
  await logOn(table).note([{ ...first, after: { ...first.after, claims } }], [], NOVEMBER_21_MS);
  expect(table.items()).toEqual([]);
  await logOn(table).note(
    [...stepsOf(1), { ...first, after: { ...first.after, jobId: 5, claims } }],
    [],
    NOVEMBER_21_MS,
  );
  const { lines } = await logOn(table).read(EPOCH);
  expect(lines.map(([jobId]) => jobId)).not.toContain(5);
});

test('a counter that nobody of us wrote is of the epoch in which that is met, whatever records come with it', async () => {
  const table = new MemoryTable();
  const log = logOn(table);
  const amounts = { committed: 5, fitted: 5, settled: 0, rev: 3 };
  const unchecked = { bypass: 0, exempt: 0, unmetered: 0 };
  const before = { key: counter('group/1'), ...amounts, unchecked };
  const odd = { sequence: '7', before, after: { ...before, committed: 9 } };
  const earlier = stepsOf(1).map((step) => ({ ...step, epoch: EPOCH - 1 }));
  await log.note(earlier, [odd], NOVEMBER_21_MS);
  expect((await log.read(EPOCH)).odd).toEqual([before.key]);
  expect(await log.read(EPOCH - 1)).toMatchObject({ odd: [], lines: [{}, {}] });
});
