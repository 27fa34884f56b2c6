/** Ten thousand groups with their usage: overview, search and the list of limits take twelve requests of the table, with the two pointers. */
import { expect, test } from 'vitest';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { GROUPS, HISTORY_DAYS, tenThousandGroups } from '../../../support/reports/ten-thousand-groups.ts';
import { USERS } from '../../console/house.ts';

const REQUESTS_MAX = 12;

// Its sheets take seconds to make, and nobody changes them.
const shared = tenThousandGroups();

test('the overview leads with who has nothing left now, though copies say otherwise, in twelve requests', async () => {
  const { read, measured } = await shared;
  const { answer, asked } = await measured(() => read.overview({ max: 50 }, USERS.finance));
  expect(asked).toBeLessThanOrEqual(REQUESTS_MAX);
  expect(answer.rows.slice(0, 5).map(({ subject }) => subject)).toEqual([
    'group/2007',
    ...[8007, 6007, 4007, 7].map((id) => `group/${id}`),
  ]);
  expect(answer.total).toBe(GROUPS);
  // This month has its days so far: today’s, read as it is, is empty.
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
  const ranked = { sort: 'risk', caps: true, max: 50 } as const;
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
  const packed = await read.budgets(asked, USERS.finance);
  const { sheets: _, ...without } = deps;
  const { createConsoleRead } = await import('../../../../functions/answers/create-console-read.ts');
  const live = await createConsoleRead(without).budgets(asked, USERS.finance);
  const of = (rows: typeof packed.rows) =>
    rows
      .filter(({ subject }) => groups.some((id) => subject === `group/${id}`))
      .map(({ subject, forecast }) => ({ subject, forecast }));
  expect(of(packed.rows).length).toBeGreaterThan(0);
  expect(of(packed.rows)).toEqual(of(live.rows));
});
