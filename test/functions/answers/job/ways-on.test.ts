import { expect, test } from 'vitest';
import type { JobRejection } from '../../../../functions/answers/job/model.ts';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import type { User } from '../../../../functions/core/signin/model.ts';
import { aJob, consoleHouse, USERS } from '../../console/house.ts';

const classes = [
  { name: 'large', tags: ['large'], rate_per_minute: '0.60' },
  { name: 'huge', tags: ['huge'], rate_per_minute: 1 },
  { name: 'medium', tags: ['linux', 'medium'], rate_per_minute: '0.51' },
  { name: 'small', tags: ['small'], rate_per_minute: '0.10' },
];
const prices = { version: '1', classes, default_class: 'small' };
const budgetOf = (subject: string, amount: number): LimitEdit => ({
  ...{ kind: 'set', subject, unit: 'money', amount, per: 'month' },
  ...{ owner: 'cards-leads', contact: '#cards' },
});

/** A job of ten minutes of class large, six euros, by these limits; and what its page says. */
async function rejectionBy(
  edits: readonly LimitEdit[],
  { user = USERS.viewer, policy = {} }: { readonly user?: User; readonly policy?: object } = {},
): Promise<JobRejection | undefined> {
  const house = consoleHouse({ policy: { prices, ...policy } });
  await house.apply(edits);
  await house.ask([aJob(4711, { runnerTags: ['large'] })]);
  const answer = await house.read.job('4711', user);
  if (answer.outcome !== 'found') throw new Error(answer.outcome);
  return answer.explanation.rejection;
}

test('a job that is over its budget is told each way on, with the numbers', async () => {
  expect(await rejectionBy([budgetOf('group/104', 5)])).toEqual({
    says: expect.stringContaining('This job needs about 6.00 EUR'),
    others: [],
    advice: expect.any(Array),
    renewsAtMs: Date.UTC(2026, 11, 1),
    owner: { name: 'cards-leads', contact: '#cards' },
    // Medium does not fit into 5.10 EUR either.
    classes: [{ runnerClass: 'small', tags: ['small'], costMicros: 1_000_000 }],
    request: {
      ...{ subject: 'group/104', label: 'acme/payments/cards', limit: 'money-month', unit: 'micros' },
      ...{ amount: '1.00', fromDay: '2026-11-21', untilDay: '2026-11-30' },
    },
  });
});

test('cheaper classes that fit stand there cheapest first, and a limit on one of them counts', async () => {
  const names = async (edits: readonly LimitEdit[]) =>
    (await rejectionBy([budgetOf('group/104', 5.5), ...edits]))?.classes.map(
      ({ runnerClass }) => runnerClass,
    );
  expect(await names([])).toEqual(['small', 'medium']);
  expect(
    await names([{ kind: 'set', subject: 'runner-class/small', unit: 'money', amount: 0, per: 'month' }]),
  ).toEqual(['medium']);
});

test('where nothing is left, no other class is offered', async () => {
  expect(await rejectionBy([budgetOf('group/104', 0)])).toMatchObject({ classes: [] });
});

test('a limit that is not the viewer’s is named with its owner, not asked of, and tells no number that others hide', async () => {
  const above = [budgetOf('group/100', 5)];
  const hidden = await rejectionBy(above, { policy: { disclose: { default: 'none' } } });
  expect(JSON.stringify(hidden)).not.toMatch(/5\.00|cards-leads/);
  expect(hidden).not.toHaveProperty('request');
  const bound = await rejectionBy(above, { policy: { disclose: { default: 'binding' } } });
  expect(bound).toMatchObject({ owner: { name: 'cards-leads' } });
  const finance = await rejectionBy(above, { user: USERS.finance });
  expect(finance).toMatchObject({ request: { subject: 'group/100' } });
});

test('what no budget is about keeps its own advice', async () => {
  const slots = await rejectionBy([{ kind: 'set', subject: 'group/104', unit: 'jobs', amount: 0 }]);
  expect(slots).toMatchObject({ classes: [], request: { limit: 'jobs-now', amount: '1' } });
  expect(slots?.advice.join()).toContain('Retrying will fail again');
});

test('a job that was admitted has nothing to say of it', async () => {
  expect(await rejectionBy([budgetOf('group/104', 50)])).toBeUndefined();
});
