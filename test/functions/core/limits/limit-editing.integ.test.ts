import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { aDesk, aLiveDesk, FINANCE } from './desk.ts';

const TABLE = 'limits-desk';

const local = localTable(TABLE);

const tableOf = (instance: string) =>
  new DynamoLimitTable({
    table: dynamoTable(local.client, TABLE),
    instance,
    clock: systemClock,
    random: Math.random,
  });

/** Fewer each time: more takes two people. */
const amountOf = (round: number, editor: number): number => 100 - round * 10 - editor;

test('of many editors at many desks one wins, and the log has exactly who won', async () => {
  const table = tableOf('editors.example.com');
  const { desk, by } = await aLiveDesk({ table });
  await desk.apply(
    [{ kind: 'set', subject: 'group/104', unit: 'starts', amount: 100, per: 'day' }],
    await by(),
  );
  for (let round = 1; round <= 3; round += 1) {
    const mine = await by();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, (_, at) =>
        aDesk({ table }).desk.apply(
          [{ kind: 'set', subject: 'group/104', limit: 'starts-day', amount: amountOf(round, at) }],
          { ...mine, actor: `editor ${at}` },
        ),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
      'live',
      'stale',
      'stale',
      'stale',
      'stale',
    ]);
    const winner = outcomes.findIndex(({ outcome }) => outcome === 'live');
    const { entries } = await desk.history({ subject: 'group/104', max: 1 });
    expect(entries).toMatchObject([
      { edit: round + 2, actor: `editor ${winner}`, rows: [{ to: amountOf(round, winner) }] },
    ]);
  }
});

test('what was asked for is given once, however many approve it at once', async () => {
  const made = await aLiveDesk({ table: tableOf('approvers.example.com') });
  const asked = await made.desk.request(
    {
      subject: 'group/101',
      limit: 'money-month',
      amount: 400,
      from: '2026-11-21',
      until: '2026-11-30',
      reason: 'r',
    },
    { actor: 'dev', rights: FINANCE },
  );
  if (asked.outcome !== 'filed') throw new Error(asked.outcome);
  const outcomes = await Promise.all(
    ['xi', 'yan', 'zoe'].map((actor) =>
      made.desk.decide(asked.request.id, { verdict: 'approve' }, { actor, rights: FINANCE }),
    ),
  );
  // Who comes between decision and grant goes on with it, and says the same.
  const said = outcomes.map(({ outcome }) => outcome);
  expect(said.filter((outcome) => outcome !== 'approved' && outcome !== 'decided')).toEqual([]);
  expect(said).toContain('approved');
  expect((await made.desk.live())?.document.grants).toHaveLength(1);
});

test('an import of thousands of limits is read back as it was written, and told in the log', async () => {
  const { desk, by } = aDesk({ table: tableOf('import.example.com') });
  const limits = Array.from({ length: 4_000 }, (_, at) => ({
    on: { group: 1_000 + at },
    money: at,
    per: 'month',
  }));
  const outcome = await desk.apply([{ kind: 'replace', document: { limits } }], await by());
  expect(outcome.outcome).toBe('live');
  expect((await aDesk({ table: tableOf('import.example.com') }).desk.live())?.document).toEqual({ limits });
  expect((await desk.history({ subject: 'group/4999', max: 1 })).entries).toMatchObject([
    { edit: 1, count: 12_000 },
  ]);
});
