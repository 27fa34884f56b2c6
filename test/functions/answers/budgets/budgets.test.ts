import { expect, test } from 'vitest';
import type { BudgetsQuery } from '../../../../functions/answers/budgets/model.ts';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const PERIOD = '2026-11';

async function live(packed: object = {}) {
  const house = consoleHouse({ packed: { personal_default: [{ jobs: 8 }], ...packed } });
  await house.apply(LIMITS);
  house.counts('group/100', 'money-month', PERIOD, 450_000_000);
  house.counts('group/101', 'money-month', PERIOD, 499_999_999);
  house.counts('group/104', 'money-month', PERIOD, 3_000_000);
  const of = async (asked: BudgetsQuery, who: keyof typeof USERS = 'finance') =>
    (await house.read.budgets(asked, USERS[who])).rows.map(({ subject, id }) => `${subject} ${id}`);
  return { ...house, of };
}

test('the fullest come first, and no percent is said before it is used', async () => {
  const { read } = await live();
  const { rows } = await read.budgets({}, USERS.finance);
  expect(rows.map(({ path, id, percent }) => [path, id, percent])).toEqual([
    ['acme/payments/cards', 'money-month', 100],
    ['acme/payments', 'money-month', 99],
    ['acme', 'money-month', 50],
    ['acme/payments/cards', 'jobs-now', 0],
    ['beta', 'money-month', 0],
  ]);
});

test('a personal namespace has its default limits where it is asked for, and does not fill the list of all', async () => {
  const { of } = await live();
  expect(await of({})).not.toContain('group/190 jobs-now');
  expect(await of({ below: 'group/190' })).toEqual(['group/190 jobs-now']);
});

test('what holds for a project is its groups’ and the instance’s, the closest first', async () => {
  const { of } = await live();
  expect(await of({ holding: 'project/1' })).toEqual([
    'group/104 money-month',
    'group/104 jobs-now',
    'group/101 money-month',
    'group/100 money-month',
  ]);
});

test('nobody is told of what is not theirs', async () => {
  const { of } = await live();
  expect(await of({}, 'viewer')).toEqual([
    'group/104 money-month',
    'group/101 money-month',
    'group/104 jobs-now',
  ]);
  expect(await of({ holding: 'group/200' }, 'viewer')).toEqual([]);
  expect(await of({}, 'none')).toEqual([]);
});

test('pages have each limit once, in the order of all, and as they stand now', async () => {
  const house = await live();
  const whole = await house.of({});
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await house.read.budgets({ max: 2, ...(cursor && { cursor }) }, USERS.finance);
    expect(page.total).toBe(whole.length);
    paged.push(...page.rows.map(({ subject, id }) => `${subject} ${id}`));
    cursor = page.next;
  } while (cursor !== undefined);
  expect(paged).toEqual(whole);
  house.counts('group/104', 'money-month', PERIOD, 1_500_000);
  expect((await house.read.budgets({ max: 2 }, USERS.finance)).rows[0]).toMatchObject({ percent: 50 });
});

test('only what is used so far is listed where that is asked', async () => {
  const { of } = await live();
  expect(await of({ percentMin: 99 })).toEqual(['group/104 money-month', 'group/101 money-month']);
});

test('starts of a day run out like money, those of an hour come and go', async () => {
  const { apply, read, usage } = await live();
  await apply([
    { kind: 'set', subject: 'group/200', unit: 'starts', amount: 30, per: 'month' },
    { kind: 'set', subject: 'group/200', unit: 'starts', amount: 5, per: 'hour' },
  ]);
  const delta = new Map([['admitted', 10]]);
  for (const day of ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'])
    await usage.commit({ contributions: [], usage: [{ key: { subject: 'group/200', day }, delta }] });
  const { rows } = await read.budgets({ below: 'group/200', forecast: true }, USERS.finance);
  expect(rows.map(({ id, canRunOut, forecast }) => [id, canRunOut, forecast?.outcome])).toEqual([
    ['starts-month', true, 'runs_out'],
    ['money-month', true, undefined],
    ['starts-hour', false, undefined],
  ]);
});
