import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import type { StatementQuery } from '../../../../functions/answers/statement/model.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

/** Two jobs of acme/payments/cards that cost 1.00 each, one of beta/ops. */
async function month() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  await house.ask([aJob(1), aJob(2)]);
  await house.ask([
    aJob(3, { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 }),
  ]);
  await house.ledger.settle(
    [1, 2, 3].map((jobId) => ({ jobId, durationSeconds: 3600, endedAtMs: house.clock.nowMs() })),
  );
  await house.roll();
  const { instance, description } = house.deps.books ?? { instance: '', description: '' };
  /** For whoever may read every record. */
  const whole = createConsoleRead({ ...house.deps, books: { instance, description, jobs: house.store } });
  return { ...house, whole };
}

const PAYMENTS: StatementQuery = { month: '2026-11', group: 'acme/payments' };

test('days alone state the same total as all jobs', async () => {
  const { read, whole } = await month();
  const [days, jobs] = [
    await read.statement(PAYMENTS, USERS.viewer),
    await whole.statement({ ...PAYMENTS, by: 'job' }, USERS.viewer),
  ];
  if (days.outcome !== 'stated' || jobs.outcome !== 'stated') throw new Error(days.outcome);
  expect(jobs.statement.lines).toHaveLength(2);
  expect(days.statement.lines).toHaveLength(1);
  expect(days.statement.totals.micros).toBe(12_000_000);
  expect(days.statement.totals).toEqual(jobs.statement.totals);
});

test('nobody is told what a group of others is charged, nor everything but who sees everything', async () => {
  const { read } = await month();
  for (const group of ['acme/payments', '101', 'instance', 'acme', 'nowhere'])
    expect(await read.statement({ month: '2026-11', group }, USERS['viewer of another subtree'])).toEqual({
      outcome: 'unknown_group',
    });
  expect(await read.statement({ month: '2026-11', group: 'instance' }, USERS.finance)).toMatchObject({
    outcome: 'stated',
  });
});

test.each([
  [{ month: '2026-13' }, 'unreadable'],
  [{ month: '2026-12' }, 'unreadable'],
  [{ by: 'job' }, 'only_days'],
  [{ withPrices: true }, 'only_days'],
] as const)('of %j it is said why it cannot be stated: %s', async (asked, outcome) => {
  const { read } = await month();
  expect(await read.statement({ ...PAYMENTS, ...asked }, USERS.finance)).toMatchObject({ outcome });
});
