/** Ten thousand groups with their usage: overview, search and the list of limits take twelve requests of the table, with the two pointers. */
import { expect, test } from 'vitest';
import { dynamoCounterSheet } from '../../../../functions/core/books/counter-sheet.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { emptySum, FIGURES, packedSums } from '../../../../functions/core/sheets/sheet-rows.ts';
import { dynamoSheetStore } from '../../../../functions/core/sheets/sheet-store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';
import { counterName } from '../../../../policies/claim.ts';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { directoryOf } from '../../../../policies/place/directory.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { consoleHouse, USERS } from '../../console/house.ts';

const GROUPS = 10_000;
const INSTANCE = 'gitlab.example.com';
const REQUESTS_MAX = 12;
/** Of the limits and of the directory, which say whether what is in memory still holds. */
const POINTERS = 2;
const HISTORY_DAYS = 56;

const copyOf = (id: number, period: string, committed: number): Counter => ({
  ...{ key: { subject: `group/${id}`, limit: 'money-month', period }, committed, fitted: committed, rev: 1 },
  ...{ settled: committed, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } },
});

async function house() {
  const groups = Array.from({ length: GROUPS }, (_, id) => ({
    ...{ id: id + 1, path: `team-${String(id + 1).padStart(5, '0')}`, personal: false },
  }));
  const memory = new MemoryTable();
  let requests = 0;
  const table: ItemTable = {
    tableName: memory.tableName,
    send: (name, operation) => {
      requests += 1;
      return memory.send(name, operation);
    },
  };
  const clock = manualClock();
  const nowMs = clock.nowMs();
  const deps = { table, instance: INSTANCE, clock: { ...clock, sleep: async () => {} }, random: () => 0 };
  const [counterSheet, sheets] = [dynamoCounterSheet(deps), dynamoSheetStore(deps)];
  // Everybody is at a tenth, and five teams use more and more.
  const micros = (id: number): number => (id % 2_000 === 7 ? 90_000_000 + id : 10_000_000);
  const copies = groups.flatMap(({ id }) => [
    copyOf(id, '2026-11', micros(id)),
    copyOf(id, '2026-10', 20_000_000),
  ]);
  await counterSheet.write({
    ...{ sinceMs: 0, atMs: nowMs - 20 * 60_000, epoch: 0, whole: true },
    counters: new Map(copies.map((copy) => [counterName(copy.key), copy])),
  });
  const rows = new Map(
    [0, ...groups.map(({ id }) => id)].map((id) => {
      const sum = emptySum();
      sum[FIGURES.indexOf('settledMicros')] = 2_000_000 + id;
      sum[FIGURES.indexOf('jobs')] = 1 + (id % 70);
      sum[FIGURES.indexOf('rejected')] = id % 2;
      sum[FIGURES.indexOf('milliseconds')] = 90_000 + id;
      return [id, sum] as const;
    }),
  );
  const packed = packedSums(rows);
  const months = new Map<string, string[]>();
  for (let back = 1; back <= HISTORY_DAYS + 31; back += 1) {
    const day = new Date(nowMs - back * DAY_MS).toISOString().slice(0, 10);
    months.set(day.slice(0, 7), [...(months.get(day.slice(0, 7)) ?? []), day]);
    await sheets.write({ kind: 'group', span: day, ...packed });
  }
  for (const [span, days] of months)
    await sheets.write({
      ...{ kind: 'group', span, ...packed },
      days: new Map(days.map((day) => [day, { digest: 'x', atMs: nowMs }])),
    });
  const found = consoleHouse({
    directory: directoryOf(groups),
    packed: { group_defaults: [{ groups: '*', money: 100, per: 'month' }] },
    copies: { counterSheet, sheets },
  });
  // Since the copies were made, one that led them has used up all it had.
  found.counts('group/2007', 'money-month', '2026-11', 100_000_000);
  for (const id of [7, 4007, 6007, 8007]) found.counts(`group/${id}`, 'money-month', '2026-11', micros(id));
  const measured = async <T>(
    ask: () => Promise<T>,
  ): Promise<{ readonly answer: T; readonly asked: number }> => {
    requests = 0;
    const before = found.reads.calls;
    const answer = await ask();
    return { answer, asked: requests + found.reads.calls - before + POINTERS };
  };
  return { ...found, measured };
}

// Its sheets take seconds to make, and nobody changes them.
const shared = house();

test('the overview leads with who has nothing left now, though copies say otherwise, in twelve requests', async () => {
  const { read, measured } = await shared;
  const { answer, asked } = await measured(() => read.overview({ max: 50 }, USERS.finance));
  expect(asked).toBeLessThanOrEqual(REQUESTS_MAX);
  expect(answer.rows.slice(0, 5).map(({ subject }) => subject)).toEqual([
    'group/2007',
    ...[8007, 6007, 4007, 7].map((id) => `group/${id}`),
  ]);
  expect(answer.total).toBe(GROUPS);
  // Of this month its days so far: today’s, read as it is, is empty.
  expect(answer.rows[0]?.metered).toMatchObject({
    settledMicros: 20 * 2_002_007,
    jobs: 20 * (1 + (2007 % 70)),
  });
  expect(answer.rows[1]?.budget?.forecast?.outcome).toBe('runs_out');
  const next = await measured(() => read.overview({ max: 50, cursor: '50' }, USERS.finance));
  expect(next.asked).toBeLessThanOrEqual(REQUESTS_MAX);
});

test('a search takes twelve requests', async () => {
  const { read, measured } = await shared;
  const { answer, asked } = await measured(() =>
    read.overview({ max: 50, search: 'team-007' }, USERS.finance),
  );
  expect(answer.total).toBe(100);
  expect(asked).toBeLessThanOrEqual(REQUESTS_MAX);
  const whole = await measured(() => read.overview({ max: 50, search: 'team' }, USERS.finance));
  expect(whole.answer.total).toBe(GROUPS);
  expect(whole.asked).toBeLessThanOrEqual(REQUESTS_MAX);
});

test('the list of limits, ranked by trouble, takes twelve requests', async () => {
  const { read, measured } = await shared;
  const ranked = { sort: 'trouble', caps: true, max: 50 } as const;
  const { answer, asked } = await measured(() => read.budgets(ranked, USERS.finance));
  expect(asked).toBeLessThanOrEqual(REQUESTS_MAX);
  expect([answer.rows[0]?.subject, answer.total]).toEqual(['group/2007', GROUPS]);
});

test('days from sheets forecast what days read one by one do', async () => {
  const { read, deps, usage } = await shared;
  const groups = Array.from({ length: 12 }, (_, index) => index + 1);
  for (const id of groups)
    for (let back = 1; back <= HISTORY_DAYS + 31; back += 1) {
      const day = new Date(deps.clock.nowMs() - back * DAY_MS).toISOString().slice(0, 10);
      const jobs = 1 + (id % 70);
      await usage.commit({
        contributions: [],
        usage: [
          {
            key: { subject: `group/${id}`, day },
            delta: new Map([
              ['settledMicros', 2_000_000 + id],
              ['jobs', jobs],
              ['rejected', id % 2],
              ['admitted', jobs - (id % 2)],
              ['seconds', 90 + id / 1000],
            ]),
          },
        ],
      });
    }
  const asked = { max: 12, sort: 'name' } as const;
  const packed = await read.budgets({ ...asked, forecast: true }, USERS.finance);
  const { sheets: _, ...without } = deps;
  const { createConsoleRead } = await import('../../../../functions/answers/create-console-read.ts');
  const live = await createConsoleRead(without).budgets({ ...asked, forecast: true }, USERS.finance);
  const of = (rows: typeof packed.rows) =>
    rows
      .filter(({ subject }) => groups.some((id) => subject === `group/${id}`))
      .map(({ subject, forecast }) => ({ subject, forecast }));
  expect(of(packed.rows).length).toBeGreaterThan(0);
  expect(of(packed.rows)).toEqual(of(live.rows));
});
