import { expect, test } from 'vitest';
import { spendBooks } from '../../support/reports/spend-books.ts';
import { USERS } from '../console/house.ts';

const HOUR_MS = 3_600_000;
const API = { projectId: 1, groupId: 104, runnerClass: 'small', seconds: 1 };

test('a day is packed again when it changed, a fresh one once an hour, an older one the next night', async () => {
  const { commit, pack, clock } = spendBooks();
  const job = (day: string) => commit({ ...API, day, micros: 5 });
  await job('2026-11-21');
  await job('2026-11-03');
  expect(await pack()).toEqual({ days: 2, left: 0 });
  await job('2026-11-21');
  await job('2026-11-03');
  expect(await pack()).toEqual({ days: 0, left: 0 });
  clock.advance(HOUR_MS);
  expect(await pack()).toEqual({ days: 1, left: 0 });
  clock.advance(HOUR_MS);
  expect(await pack()).toEqual({ days: 0, left: 0 });
  clock.advance(22 * HOUR_MS);
  expect(await pack()).toEqual({ days: 1, left: 0 });
});

test('a run without time leaves all of it to the next one, and what it left is read live', async () => {
  const { commit, clock, sheets, usage, directory, pack, read } = spendBooks();
  await commit({ ...API, day: '2026-11-20', micros: 7 });
  const { packSheets } = await import('../../../functions/drift/pack-sheets.ts');
  const subjects = async () => ({ directory, classNames: [] });
  const deps = { sheets, usage, subjects, clock, zone: 'UTC' };
  expect(await packSheets(clock.monotonicMs(), deps)).toEqual({ days: 0, left: 1 });
  expect(await read.spend({}, USERS.finance)).toMatchObject({
    report: { rows: [{ name: 'acme', micros: 7 }] },
  });
  expect(await pack()).toEqual({ days: 1, left: 0 });
});

test('a project that has moved keeps its row, and so does a class that is gone', async () => {
  const { commit, pack, clock, sheets, usage, directory, read } = spendBooks();
  await commit({ ...API, day: '2026-11-20', micros: 7, runnerClass: 'old' });
  const { packSheets } = await import('../../../functions/drift/pack-sheets.ts');
  await packSheets(clock.monotonicMs() + HOUR_MS, {
    ...{ sheets, usage, clock, zone: 'UTC' },
    subjects: async () => ({ directory, classNames: ['old'] }),
  });
  await commit({ ...API, day: '2026-11-20', micros: 2, runnerClass: 'old' });
  clock.advance(25 * HOUR_MS);
  await pack();
  expect(await read.spend({ by: 'class' }, USERS.finance)).toMatchObject({
    report: { rows: [{ name: 'old', micros: 9 }], other: { micros: 0 } },
  });
});
