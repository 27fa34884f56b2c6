import { expect, test } from 'vitest';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

test('what only watches: how many jobs by rule, and how much of a limit, would not have been let in', async () => {
  const house = consoleHouse();
  await house.apply([
    ...LIMITS,
    {
      kind: 'set',
      subject: 'group/104',
      limit: 'money-month',
      amount: 1.5,
      mode: 'shadow',
      owner: 'cards-leads',
    },
  ]);
  // 1.00 each: the second would not fit.
  await house.ask([aJob(1)]);
  await house.ask([aJob(2)]);
  const view = await house.read.shadow({}, USERS.viewer);
  expect(view).toMatchObject({ fromDay: '2026-11-08', toDay: '2026-11-21' });
  const cards = view.rows.find(({ subject }) => subject === 'group/104');
  expect(cards).toMatchObject({
    jobs: 2,
    owner: 'cards-leads',
    wouldFail: [{ rule: 'budgets', kind: 'budget', jobs: 1 }],
    limits: [{ refusedAmount: 1_000_000, limit: { mode: 'shadow' } }],
  });
  expect(view.rows.map(({ subject }) => subject)).toEqual(['group/101', 'group/104']);
});

test('another subtree is empty, also by its name', async () => {
  const house = consoleHouse();
  await house.apply(LIMITS);
  expect((await house.read.shadow({ group: 200 }, USERS.viewer)).rows).toEqual([]);
  expect((await house.read.shadow({}, USERS.finance)).rows[0]?.subject).toBe('instance');
});
