import { expect, test } from 'vitest';
import { aJob, consoleHouse, USERS } from '../../console/house.ts';

const job = () => aJob(4711, { runnerTags: ['large'] });

async function rejectedAbove(policy: object = {}) {
  const house = consoleHouse({ policy });
  // acme has 5 left, and a job holds 6: the limit above the viewer's group stops it.
  await house.apply([
    { kind: 'set', subject: 'group/100', unit: 'money', amount: 5, per: 'month' },
    { kind: 'set', subject: 'group/104', unit: 'money', amount: 500, per: 'month' },
  ]);
  await house.ask([job()]);
  return house;
}

test.each(['4711', '#4711', 'd-4711-1', 'https://gitlab.example.com/acme/payments/cards/api/-/jobs/4711'])(
  'a job is found by %s',
  async (word) => {
    const { read } = await rejectedAbove();
    const answer = await read.job(word, USERS.finance);
    expect(answer).toMatchObject({
      outcome: 'found',
      explanation: { decisionId: 'd-4711-1', outcome: 'rejected', countersHidden: 0 },
    });
  },
);

test('a job of another group, one that never was, and another decision: none is told', async () => {
  const { read } = await rejectedAbove();
  const foreign = await read.job('4711', USERS['viewer of another subtree']);
  const never = await read.job('4712', USERS.finance);
  expect(foreign.outcome).toBe('unknown');
  expect(JSON.stringify(foreign).replace('4711', '4712')).toBe(JSON.stringify(never));
  expect(await read.job('d-4711-2', USERS.finance)).toMatchObject({ outcome: 'unknown' });
  expect(await read.job('main', USERS.finance)).toMatchObject({ outcome: 'unreadable' });
});

test.each([
  ['none', false],
  ['binding', false],
  ['all', true],
] as const)(
  'with disclosure %s a viewer learns the numbers of a limit above their group: %s',
  async (disclose, told) => {
    const { read } = await rejectedAbove({ disclose: { default: disclose } });
    const answer = await read.job('4711', USERS.viewer);
    if (answer.outcome !== 'found') throw new Error(answer.outcome);
    const { rules, counters, countersHidden } = answer.explanation;
    const line = rules.find(({ id }) => id === 'budgets')?.atDecision[0]?.text ?? '';
    expect(line.includes('5.00')).toBe(told);
    expect(counters.map(({ subject }) => subject)).not.toContain('group/100');
    expect(countersHidden).toBeGreaterThan(0);
    expect(JSON.stringify(answer)).not.toContain('"userId"');
  },
);
