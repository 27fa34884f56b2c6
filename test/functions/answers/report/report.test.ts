import { describe, expect, test } from 'vitest';
import { dayText } from '../../../../functions/answers/reading/usage-days.ts';
import type { SpendQuery, SpendReport } from '../../../../functions/answers/report/model.ts';
import { periodBefore, reportPeriod } from '../../../../functions/answers/report/report-period.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';
import { spendBooks } from '../../../support/reports/spend-books.ts';
import { twoYearsOfGroups } from '../../../support/reports/two-years-of-groups.ts';
import { USERS } from '../../console/house.ts';

const DAY_MS = 86_400_000;
const API = { projectId: 1, groupId: 104, runnerClass: 'small' };
const TOOLS = { projectId: 2, groupId: 201, runnerClass: 'large' };

async function someBooks(packs = true) {
  const books = spendBooks({ packs });
  for (const [day, micros] of [
    ['2026-10-05', 4_000_000],
    ['2026-10-28', 700_000],
    ['2026-11-02', 1_000_000],
    ['2026-11-20', 2_500_000],
  ] as const)
    await books.commit({ ...API, day, micros, seconds: 60, bucket: 'q4' });
  await books.commit({ ...TOOLS, day: '2026-11-20', micros: 9_000_000, seconds: 900.5, bucket: 'q12' });
  await books.commit({ ...TOOLS, day: '2026-11-21', micros: 0, seconds: 0, rejected: true });
  await books.pack();
  const spend = async (asked: SpendQuery, who: keyof typeof USERS = 'finance'): Promise<SpendReport> => {
    const answer = await books.read.spend(asked, USERS[who]);
    if (answer.outcome !== 'reported') throw new Error(JSON.stringify(answer));
    return answer.report;
  };
  return { ...books, spend };
}

const namesAndMicros = ({ rows }: SpendReport) => rows.map(({ name, micros }) => [name, micros]);

describe.each([true, false])('packed: %s', (packs) => {
  test('a month under way stands beside as many days of the month before', async () => {
    const { spend } = await someBooks(packs);
    const report = await spend({});
    expect(report).toMatchObject({
      ...{ subject: 'instance', by: 'group', fromDay: '2026-11-01', toDay: '2026-11-21' },
      before: { fromDay: '2026-10-01', toDay: '2026-10-21' },
      total: { micros: 12_500_000, jobs: 4, rejected: 1, estimated: 3, overEstimate: 1, seconds: 1020.5 },
      other: { rows: 0, micros: 0 },
      notes: [],
    });
    expect(namesAndMicros(report)).toEqual([
      ['beta', 9_000_000],
      ['acme', 3_500_000],
    ]);
    expect(report.rows[1]).toMatchObject({ subject: 'group/100', before: { micros: 4_000_000, jobs: 1 } });
    expect(report.packedAtMs === undefined).toBe(!packs);
  });

  test('one level down, by project, class, day and month', async () => {
    const { spend } = await someBooks(packs);
    expect(namesAndMicros(await spend({ group: 'acme' }))).toEqual([['acme/payments', 3_500_000]]);
    expect(await spend({ group: '104' })).toMatchObject({
      by: 'project',
      rows: [{ name: 'acme/payments/cards/api' }],
    });
    expect(namesAndMicros(await spend({ by: 'class' }))).toEqual([
      ['large', 9_000_000],
      ['small', 3_500_000],
    ]);
    const byDay = await spend({ by: 'day', from: '2026-11-19', to: '2026-11-21' });
    expect(namesAndMicros(byDay)).toEqual([
      ['2026-11-19', 0],
      ['2026-11-20', 11_500_000],
      ['2026-11-21', 0],
    ]);
    const byMonth = await spend({ by: 'month', period: 'quarter', project: 1 });
    expect(namesAndMicros(byMonth)).toEqual([
      ['2026-10', 4_700_000],
      ['2026-11', 3_500_000],
    ]);
  });
});

test('what is not listed is one row', async () => {
  const { spend } = await someBooks();
  expect(await spend({ top: 1, compare: false })).toMatchObject({
    rows: [{ name: 'beta' }],
    other: { rows: 1, micros: 3_500_000, label: '1 more, and jobs of no group that is listed' },
  });
});

test('everybody sees their own subtree, and what cannot be meant is told', async () => {
  const { spend, read } = await someBooks();
  expect(await spend({}, 'viewer')).toMatchObject({ subject: 'group/101', total: { micros: 3_500_000 } });
  const asked = (query: SpendQuery, who: keyof typeof USERS = 'viewer') => read.spend(query, USERS[who]);
  for (const query of [
    { group: 'instance' },
    { group: '100' },
    { group: 'beta' },
    { project: 2 },
    { group: 'nobody' },
  ])
    expect(await asked(query)).toEqual({ outcome: 'unknown_group' });
  expect(await asked({}, 'none')).toEqual({ outcome: 'unknown_group' });
  expect(await asked({ by: 'day', period: 'last-year' })).toMatchObject({ asked: 'by' });
  for (const hours of [{}, { group: '104' }, { project: 1 }])
    expect(await asked({ ...hours, by: 'hour' })).toMatchObject({
      asked: 'by',
      sentence: expect.stringContaining('ask for acme, or by another key'),
    });
  expect(await asked({ period: '2026-13' })).toMatchObject({ asked: 'period' });
  expect(await asked({ period: '2027-01' })).toMatchObject({ asked: 'period' });
  expect(await asked({ from: '2026-02-30' })).toMatchObject({ asked: 'from' });
  expect(await asked({ from: '2026-11-02', to: '2026-11-01' })).toMatchObject({ asked: 'to' });
  expect(await asked({ from: '2021-01-01', to: '2026-11-01' })).toMatchObject({ asked: 'to' });
});

test('users are told to who sees all, of the last 90 days and no further', async () => {
  const books = spendBooks();
  const { clock, read, sheets, packRecords } = books;
  const startMs = clock.nowMs();
  await packRecords([
    aRecord({
      jobId: 1,
      facts: someFacts({ projectId: 1, groupId: 104, groupIds: [100, 101, 104], userId: 7 }),
    }),
  ]);
  clock.advance(DAY_MS);
  await packRecords([
    aRecord({
      jobId: 1,
      decidedAtMs: startMs,
      facts: someFacts({ projectId: 1, groupId: 104, groupIds: [100, 101, 104], userId: 7 }),
    }),
  ]);
  const asked = (query: SpendQuery, who: keyof typeof USERS) =>
    read.spend({ by: 'user', ...query }, USERS[who]);
  for (const who of ['viewer', 'owner', 'job'] as const)
    expect(await asked(who === 'job' ? { project: 1 } : {}, who)).toMatchObject({
      ...{ outcome: 'unreadable', asked: 'by' },
      sentence: 'only finance and administrators see users; use another key',
    });
  for (const who of ['finance', 'admin'] as const)
    expect(await asked({ group: '104' }, who)).toMatchObject({
      report: { rows: [{ name: 'user 7', jobs: 1 }], total: { jobs: 1 } },
    });
  expect(await asked({ period: 'last-quarter' }, 'finance')).toMatchObject({
    sentence: 'users are kept for 90 days; expected a period from 2026-08-25 on',
  });
  expect(await asked({ from: '2026-09-10', to: '2026-11-22' }, 'finance')).toMatchObject({
    report: { notes: [expect.anything(), 'The period before is not shown: users are kept for 90 days.'] },
  });
  const first = { from: '2026-11-21', to: '2026-11-21', compare: false };
  clock.advance(88 * DAY_MS);
  expect(await asked(first, 'finance')).toMatchObject({ report: { rows: [{ name: 'user 7' }] } });
  clock.advance(DAY_MS);
  expect(await asked(first, 'finance')).toMatchObject({ outcome: 'unreadable' });
  const [month, day] = await sheets.read(['2026-11', '2026-11-21'].map((span) => ({ kind: 'user', span })));
  expect([month?.names, day?.names]).toEqual([[], ['1\n7']]);
  books.table.collectGarbage(clock.nowMs());
  expect(await sheets.read([{ kind: 'user', span: '2026-11-21' }])).toEqual([undefined]);
});

test('periods that are named, and those before them', () => {
  const TODAY = Math.floor(Date.UTC(2026, 10, 21) / 86_400_000);
  const spans = (asked: SpendQuery) => {
    const period = reportPeriod(asked, TODAY);
    if ('outcome' in period) throw new Error(period.sentence);
    const before = periodBefore(period);
    return [period.from, period.to, before.from, before.to].map(dayText).join(' ');
  };
  expect(spans({})).toBe('2026-11-01 2026-11-21 2026-10-01 2026-10-21');
  expect(spans({ period: 'last-month' })).toBe('2026-10-01 2026-10-31 2026-09-01 2026-09-30');
  expect(spans({ period: '2026-03' })).toBe('2026-03-01 2026-03-31 2026-02-01 2026-02-28');
  expect(spans({ period: '2026-Q4' })).toBe('2026-10-01 2026-11-21 2026-07-01 2026-08-21');
  expect(spans({ period: 'last-quarter' })).toBe('2026-07-01 2026-09-30 2026-04-01 2026-06-30');
  expect(spans({ period: '2025' })).toBe('2025-01-01 2025-12-31 2024-01-01 2024-12-31');
  expect(spans({ from: '2026-11-10', to: '2026-11-12' })).toBe('2026-11-10 2026-11-12 2026-11-07 2026-11-09');
  expect(spans({ from: '10.11.2026', to: '13.11.2026' })).toBe('2026-11-10 2026-11-13 2026-11-06 2026-11-09');
  // From a day on is up to now, and a last day alone is that day.
  expect(spans({ from: '20.11.2026' })).toBe('2026-11-20 2026-11-21 2026-11-18 2026-11-19');
  expect(spans({ to: '2026-11-12' })).toBe('2026-11-12 2026-11-12 2026-11-11 2026-11-11');
  expect(() => spans({ from: '31.2.2026' })).toThrow('is no day of the calendar');
  expect(() => spans({ from: 'yesterday' })).toThrow('expected a day like 2026-11-21 or 21.11.2026');
  expect(spans({ from: '2026-10-01', to: '2026-10-31' })).toBe('2026-10-01 2026-10-31 2026-09-01 2026-09-30');
});

test('two years of 10 000 groups are twelve reads, whatever is asked', async () => {
  const { read, calls } = await twoYearsOfGroups();
  for (const asked of [
    { from: '2024-11-22', to: '2026-11-21' },
    { from: '2024-12-01', to: '2026-11-21', compare: false },
    { from: '2024-11-22', to: '2026-11-21', by: 'project' },
    { from: '2025-11-22', to: '2026-11-21', by: 'class' },
    { period: 'last-quarter' },
    { period: 'last-month', by: 'hour' },
    { period: 'last-quarter', by: 'hour', group: 'group-7' },
    { from: '2026-05-01', to: '2026-10-31', by: 'schedule' },
    { from: '2026-08-24', to: '2026-11-21', by: 'user' },
    { from: '2026-10-21', to: '2026-11-21', by: 'user' },
    { by: 'class', group: 'group-7' },
    { by: 'class', from: '2026-10-21', to: '2026-11-20', group: 'group-7' },
    { by: 'day', period: 'last-month', group: 'group-7' },
    { by: 'month', period: 'last-year', group: 'group-7' },
  ] as const) {
    Object.assign(calls, { sheets: 0, usage: 0 });
    const answer = await read.spend(asked, USERS.finance);
    const reads = calls.sheets + calls.usage;
    expect(answer).toMatchObject({ outcome: 'reported', report: { currency: 'EUR' } });
    expect(reads).toBeLessThanOrEqual(12);
  }
});
