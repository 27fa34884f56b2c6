import { expect, test } from 'vitest';
import { compareAll } from '../../../../functions/answers/backtest/count-edit.ts';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import type { BacktestSummary } from '../../../../functions/answers/limits/models.ts';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const edit = (amount: number | string, subject = 'group/104'): LimitEdit => ({
  kind: 'set',
  subject,
  limit: 'money-month',
  amount,
});

const HOUR_MS = 3_600_000;

/** Forty jobs of an hour in cards (6.00 each) over four days, and as many of beta, which are nobody's business here. */
async function lived(parts: Parameters<typeof consoleHouse>[0] = {}) {
  const house = consoleHouse(parts);
  await house.apply(LIMITS);
  await house.apply([edit(1_000), edit(1_000, 'group/200')]);
  house.clock.advance(-4 * 24 * HOUR_MS);
  const others = { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 };
  for (let at = 0; at < 40; at += 1) {
    await house.ask([aJob(10_000 + at * 100), aJob(10_001 + at * 100, others)]);
    house.clock.advance(2 * HOUR_MS);
    const endedAtMs = house.clock.nowMs();
    await house.ledger.settle(
      [10_000, 10_001].map((first) => ({ jobId: first + at * 100, durationSeconds: 3_600, endedAtMs })),
    );
    await house.roll();
  }
  house.clock.advance(4 * 24 * HOUR_MS - 80 * HOUR_MS);
  const set = (await house.limitEdits.live())?.pointer.set;
  const reading = (more: object = {}) =>
    createConsoleRead({ ...house.deps, recentJobIds: async () => [13_901], ...more });
  return { ...house, set, reading };
}

const counted = (answer: { outcome: string }): BacktestSummary => {
  if (answer.outcome !== 'counted') throw new Error(JSON.stringify(answer));
  return answer as BacktestSummary;
};

test('the jobs that would have failed are counted one by one, as the command line counts them', async () => {
  const house = await lived();
  const answer = counted(await house.reading().backtest([edit(60)], house.set, USERS.owner));
  // 60.00 are ten jobs of 6.00.
  expect(answer).toMatchObject({
    complete: true,
    days: 30,
    all: { jobs: 40, wouldFail: 30, wouldFailNow: 0, failed: 0, unasked: 0 },
    subjects: [{ subject: 'group/104', path: 'acme/payments/cards', jobs: 40, wouldFail: 30 }],
    jobsRead: 80,
  });
  const compareEdit = compareAll(house.store);
  const whole = await house.reading({ compareEdit }).backtest([edit(60)], house.set, USERS.owner);
  expect(counted(whole)).toMatchObject({ complete: true, all: answer.all, subjects: answer.subjects });
});

/** A second for each 500 ids: a request reads eight blocks of them. */
const slowly = (house: Awaited<ReturnType<typeof lived>>) => {
  let nowMs = 0;
  return {
    monotonicMs: () => nowMs,
    ledger: {
      ...house.deps.ledger,
      readRecords: async (ids: readonly number[]) => {
        nowMs += 1_000;
        return house.deps.ledger.readRecords(ids);
      },
    },
  };
};

test('what one request cannot read is counted by the next ones, to the same figures', async () => {
  const house = await lived();
  const whole = counted(await house.reading().backtest([edit(210)], house.set, USERS.owner));
  expect(whole.all).toMatchObject({ jobs: 40, wouldFail: 5 });
  const { backtest } = house.reading(slowly(house));
  const on = async (cursor?: string) => counted(await backtest([edit(210)], house.set, USERS.owner, cursor));
  const answers = [await on()];
  for (let next = answers[0]?.next; next !== undefined; next = answers.at(-1)?.next)
    answers.push(await on(next));
  expect(answers.length).toBeGreaterThan(2);
  expect(answers[0]).toMatchObject({ complete: false, daysCounted: 0, all: { jobs: 0 } });
  expect(answers.at(-1)).toEqual(whole);
});

test('nobody counts the jobs of a group that is not theirs, nor of one above', async () => {
  const house = await lived();
  const { backtest } = house.reading();
  for (const subject of ['group/200', 'group/100', 'instance', 'group/999'])
    expect(await backtest([edit(60, subject)], house.set, USERS.owner)).toEqual({
      outcome: 'unknown_subject',
      subject,
    });
  expect(counted(await backtest([edit(60, 'group/100')], house.set, USERS.finance)).all.jobs).toBe(40);
});

test('so often a minute and no more, each for themselves', async () => {
  const house = await lived();
  const { backtest } = house.reading();
  for (let time = 0; time < 6; time += 1)
    expect((await backtest([edit(60)], house.set, USERS.owner)).outcome).toBe('counted');
  expect(await backtest([edit(60)], house.set, USERS.owner)).toEqual({
    outcome: 'too_often',
    retryAfterSeconds: 60,
  });
  expect((await backtest([edit(60)], house.set, { ...USERS.finance, id: 8 })).outcome).toBe('counted');
  house.clock.advance(60_000);
  expect((await backtest([edit(60)], house.set, USERS.owner)).outcome).toBe('counted');
});
