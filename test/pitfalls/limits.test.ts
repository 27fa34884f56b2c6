import { expect, test } from 'vitest';
import { aJob, count, DAY_MS, ONE, ran, range, wordOf, world } from './world.ts';

const budget = (group: number, money: unknown) => ({ on: { group }, money, per: 'month' });

const grant = (amount: number, from: string, until: string) => ({
  on: { group: 100 },
  limit: 'money-month',
  amount,
  from,
  until,
  reason: 'release',
});

test('a grant expiring between admit and settle: the job it let in is charged in full, the next one has only the base', async () => {
  const limits = { limits: [budget(100, 1)], grants: [grant(2, '2026-11-20', '2026-11-21')] };
  const { outcome, clock, hear, settled } = world({ limits });
  expect([await outcome(aJob(1)), await outcome(aJob(2)), await outcome(aJob(3))]).toEqual([
    'admitted',
    'admitted',
    'admitted',
  ]);
  clock.advance(DAY_MS / 2);
  expect(await outcome(aJob(4))).toBe('BUDGET_EXHAUSTED');
  expect(await hear(ran(1, 600), ran(2, 600), ran(3, 600))).toEqual(['applied', 'applied', 'applied']);
  expect(await settled('group/100')).toBe(3 * ONE);
  expect(await outcome(aJob(5))).toBe('BUDGET_EXHAUSTED');
});

test('grants overlapping add up for the days they share', async () => {
  const grants = [grant(1, '2026-11-20', '2026-11-22'), grant(2, '2026-11-21', '2026-11-30')];
  const { ask, goTo } = world({ limits: { limits: [budget(100, 1)], grants } });
  const admitted = async (from: number) =>
    count((await ask(range(from, 9).map((jobId) => aJob(jobId)))).map(wordOf), 'admitted');
  goTo('2026-11-19T12:00:00Z');
  expect(await admitted(1)).toBe(1);
  goTo('2026-11-20T12:00:00Z');
  expect(await admitted(11)).toBe(1);
  goTo('2026-11-21T12:00:00Z');
  expect(await admitted(21)).toBe(2);
  goTo('2026-11-23T12:00:00Z');
  expect(await admitted(31)).toBe(0);
});

test('lowering below committed kills nobody: held jobs stay admitted and settle, new ones wait until there is room', async () => {
  const { outcome, edit, hear, committed } = world({ limits: [budget(100, 5)] });
  for (const jobId of range(1, 5)) await outcome(aJob(jobId));
  edit({ limits: [budget(100, 2)] });
  expect([await outcome(aJob(3)), await outcome(aJob(6))]).toEqual(['admitted', 'BUDGET_EXHAUSTED']);
  await hear(...range(1, 5).map((jobId) => ran(jobId, 60)));
  expect([await committed('group/100'), await outcome(aJob(7))]).toEqual([0.5 * ONE, 'admitted']);
});

test('the default for a never-seen project under 50 parallel first requests lets in just as many as it says', async () => {
  const limits = { limits: [], personal_default: [{ money: 8, per: 'month' }, { jobs: 30 }] };
  const { ask, ledger, other, committed } = world({ limits });
  const asked = range(1, 50).map((jobId) =>
    ask(
      [aJob(jobId, { projectId: 7_000, projectPath: 'jane/new', namespaceId: 190, rootNamespaceId: 190 })],
      jobId % 2 === 0 ? ledger : other,
    ),
  );
  const words = (await Promise.all(asked)).flat().map(wordOf);
  expect([count(words, 'admitted'), count(words, 'BUDGET_EXHAUSTED')]).toEqual([8, 42]);
  expect(await committed('group/190')).toBe(8 * ONE);
});
