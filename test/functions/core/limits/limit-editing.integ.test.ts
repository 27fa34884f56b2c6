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
  const { limitEdits, by } = await aLiveDesk({ table });
  await limitEdits.apply(
    [{ kind: 'set', subject: 'group/104', unit: 'starts', amount: 100, per: 'day' }],
    await by(),
  );
  for (let round = 1; round <= 3; round += 1) {
    const mine = await by();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, (_, at) =>
        aDesk({ table }).limitEdits.apply(
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
    const { entries } = await limitEdits.history({ subject: 'group/104', max: 1 });
    expect(entries).toMatchObject([
      { edit: round + 2, actor: `editor ${winner}`, rows: [{ to: amountOf(round, winner) }] },
    ]);
  }
});

test('what was asked for is given once, however many approve it at once', async () => {
  const made = await aLiveDesk({ table: tableOf('approvers.example.com') });
  const asked = await made.limitEdits.request(
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
      made.limitEdits.decide(asked.request.id, { decision: 'approve' }, { actor, rights: FINANCE }),
    ),
  );
  // Who comes between decision and grant goes on with it, and says the same.
  const said = outcomes.map(({ outcome }) => outcome);
  expect(said.filter((outcome) => outcome !== 'approved' && outcome !== 'decided')).toEqual([]);
  expect(said).toContain('approved');
  expect((await made.limitEdits.live())?.document.grants).toHaveLength(1);
});
