/** Three months in virtual time: months close by themselves, one after the other, and what comes later goes forward only. */
import { expect, test } from 'vitest';
import {
  type ClosedStatement,
  chainBreak,
  type SealedStatement,
} from '../../../functions/core/statements/closed-statement.ts';
import { dynamoStatementChain } from '../../../functions/core/statements/statement-chain.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../functions/core/store/operation.ts';
import { closeMonths } from '../../../functions/drift/close-months.ts';
import { aJob, consoleHouse, LIMITS } from '../console/house.ts';

const DAY_MS = 86_400_000;
const INSTANCE = 'gitlab.example.com';
const BETA = { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 };
const SUBJECTS = ['group/100', 'group/101', 'group/104', 'group/200', 'instance'];

async function books() {
  const house = consoleHouse();
  const { clock, ledger, deps, usage, store, directory, policy } = house;
  await house.apply(LIMITS);
  const table = new MemoryTable();
  const chain = dynamoStatementChain({ table, instance: INSTANCE });
  const close = async () =>
    closeMonths(clock.monotonicMs() + 60_000, {
      ...{ chain, directory, clock, instance: INSTANCE, usage, periods: store },
      ...{ limits: (await house.desk.live())?.limits ?? deps.packedLimits },
      ...{ currency: policy.currency, prices: policy.prices, usageZone: 'UTC' },
    });
  /** Nights, up to the sixth day of a month of 2027. */
  const nightsUntil = async (month: number): Promise<void> => {
    const untilMs = Date.UTC(2027, month - 1, 7);
    while (clock.nowMs() < untilMs) {
      clock.advance(DAY_MS);
      await close();
    }
  };
  const settle = async (jobId: number, durationSeconds: number): Promise<void> => {
    await ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() }]);
    await house.roll();
  };
  const credit = (period: string, amount: number, id: string) =>
    ledger.adjust({
      ...{ counter: { subject: 'group/101', limit: 'money-month', period }, amount, id },
      ...{ reason: 'outage', actor: 'fritz' },
    });
  const all = async (): Promise<readonly SealedStatement[]> =>
    (await Promise.all(SUBJECTS.map((subject) => chain.of(subject)))).flat();
  return { ...house, table, chain, close, nightsUntil, settle, credit, all };
}

const of = (sealedOnes: readonly SealedStatement[], subject: string, month: string): ClosedStatement => {
  const found = sealedOnes.find(
    ({ statement }) => statement.subject === subject && statement.month === month,
  );
  if (found === undefined) throw new Error(`${subject} ${month} is not closed`);
  return found.statement;
};

async function threeMonths() {
  const house = await books();
  const { ask, settle, credit, nightsUntil, all } = house;
  // November: two jobs of cards, one of beta, one that still runs when the month closes, and a credit.
  await ask([aJob(1), aJob(2), aJob(3, BETA), aJob(4)]);
  await settle(1, 600);
  await settle(2, 600);
  await settle(3, 600);
  await credit('2026-11', -5, 'FIN-1');
  house.clock.advance(10 * DAY_MS);
  await nightsUntil(0);
  const november = await all();
  // December: a job of its own, and three late truths about November.
  await ask([aJob(5)]);
  await settle(5, 60);
  await settle(1, 900);
  await settle(4, 300);
  await credit('2026-11', -7, 'FIN-2');
  await nightsUntil(1);
  const december = await all();
  // January: the same job of November once more, and nothing else.
  await settle(1, 1_200);
  await nightsUntil(2);
  return { ...house, november, december, january: await all() };
}

test('each top-level group, each group with limits and the instance has a statement for each month, numbered in a row', async () => {
  const { january, chain } = await threeMonths();
  const numbers = january.map(({ statement }) => statement.number).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
  expect((await chain.numbers(1)).map(({ number, sha256 }) => [number, sha256])).toEqual(
    [...january]
      .sort((a, b) => a.statement.number - b.statement.number)
      .map(({ statement, sha256 }) => [statement.number, sha256]),
  );
  for (const subject of SUBJECTS) {
    const own = january.filter(({ statement }) => statement.subject === subject);
    expect(own.map(({ statement }) => statement.month)).toEqual(['2026-11', '2026-12', '2027-01']);
    expect(chainBreak(own)).toBeUndefined();
  }
});

test('a closed month never changes: what is told later is an adjustment of the next one, and names month and jobs', async () => {
  const { november, december, january } = await threeMonths();
  for (const { statement, text } of november)
    expect(january.find((each) => each.statement.number === statement.number)?.text).toBe(text);
  const first = of(november, 'group/101', '2026-11');
  expect(first.totals).toMatchObject({ jobs: 2, creditMicros: -5, adjustmentMicros: 0 });
  expect(first.credits).toEqual([{ id: 'FIN-1', micros: -5, reason: 'outage' }]);
  const price = first.totals.micros / 1200;
  expect(of(december, 'group/101', '2026-12').adjustments).toEqual([
    {
      ...{ month: '2026-11', number: first.number, jobs: 1, corrections: 1 },
      ...{ seconds: 600, micros: 600 * price },
      credits: [{ id: 'FIN-2', micros: -7, reason: 'outage' }],
    },
  ]);
  expect(of(january, 'group/101', '2027-01').adjustments).toEqual([
    {
      ...{ month: '2026-11', number: first.number, jobs: 0, corrections: 1 },
      ...{ seconds: 300, micros: 300 * price, credits: [] },
    },
  ]);
  expect(of(january, 'group/200', '2027-01').adjustments).toEqual([]);
});

test('all that is due over the months is what the counters of the months come to', async () => {
  const { january, deps } = await threeMonths();
  for (const subject of ['group/100', 'group/101', 'group/104', 'group/200']) {
    const due = january
      .filter(({ statement }) => statement.subject === subject)
      .reduce((sum, { statement }) => sum + statement.totals.dueMicros, 0);
    const counters = await deps.ledger.readCounters(
      ['2026-11', '2026-12', '2027-01'].map((period) => ({ subject, limit: 'money-month', period })),
    );
    expect(due).toBe(counters.reduce((sum, { settled }) => sum + settled, 0));
  }
});

test('two programs that close at once leave no gap, give no number twice and close no month twice', async () => {
  const house = await books();
  await house.ask([aJob(1), aJob(3, BETA)]);
  await house.settle(1, 60);
  await house.settle(3, 60);
  house.clock.advance(20 * DAY_MS);
  await Promise.all([house.close(), house.close(), house.close()]);
  const closed = await house.all();
  expect(closed.map(({ statement }) => statement.number).sort()).toEqual([1, 2, 3, 4, 5]);
  await house.close();
  expect(await house.all()).toEqual(closed);
});

test.each(['text', 'gone'] as const)(
  'a statement whose %s was tampered with is found, the first one named',
  async (how) => {
    const { table, chain } = await threeMonths();
    const key = table
      .items()
      .map(keyOf)
      .find(({ pk, sk }) => pk.endsWith('#of#group/101') && sk === '2026-11');
    const item = table.items().find((each) => keyOf(each).pk === key?.pk && keyOf(each).sk === key.sk);
    if (key === undefined || item === undefined) throw new Error('not closed');
    if (how === 'gone') await table.send('DeleteItem', { key });
    else {
      const text = { S: (item.tx?.S ?? '').replace('FIN-1', 'FIN-9') };
      await table.send('PutItem', { kind: 'put', item: { ...item, tx: text } });
    }
    expect(chainBreak(await chain.of('group/101'))).toMatchObject(
      how === 'text' ? { month: '2026-11', cause: 'text' } : { month: '2026-12', cause: 'link' },
    );
  },
);
