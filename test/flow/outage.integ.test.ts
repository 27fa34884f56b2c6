import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { answers, flowRules, openFlow, question } from '../support/flow/flow.ts';
import { until } from '../support/flow/until.ts';

const MONEY = { subject: 'group/100', limit: 'money-month', period: '' };

/** A relay before an admit function that can be switched off: then every call gets a 503. */
async function switchable(rules: ReturnType<typeof flowRules>) {
  const state = { on: true };
  const front = (app: Hono): Hono =>
    new Hono().all('*', (c) => (state.on ? app.fetch(c.req.raw) : c.json({ problems: ['off'] }, 503)));
  return { state, ...(await openFlow(rules, { front, deadlineMs: 2_000 })) };
}

test('while the function is down jobs run unmetered, and are charged when it is back', async () => {
  const rules = flowRules([{ on: { group: 100 }, money: 5, per: 'month' }]);
  const { state, router, ledger, relay, events } = await switchable(rules);

  state.on = false;
  const during = await Promise.all([1, 2, 3, 4, 5, 6].map((jobId) => router.admit(question(jobId))));
  expect(during.map(({ result }) => result)).toEqual(Array(6).fill('admitted'));
  expect(answers(events).every(({ via }) => via === 'fallback')).toBe(true);

  state.on = true;
  await until(async () => (await ledger.readRecord(6)) !== undefined && relay.status().unmeteredQueued === 0);

  const record = await ledger.readRecord(1);
  expect(record).toMatchObject({ state: 'HELD', answered: 'fallback', unchecked: 'unmetered' });
  const period = record?.claims[0]?.counter.period ?? '';
  const [counter] = await ledger.readCounters([{ ...MONEY, period }]);
  // Six jobs of 10 minutes at 0.10: one more than the limit of 5.00 would have let in, and all of them charged.
  expect(counter?.committed).toBe(6_000_000);
  expect(counter?.unchecked.unmetered).toBe(6_000_000);

  await until(async () => relay.status().breaker !== 'open');
  const after = await router.admit(question(7));
  expect(after).toMatchObject({ result: 'rejected', reason: expect.stringContaining('BUDGET_EXHAUSTED') });
});

test('an outage buys no free jobs for a project that the ledger has just refused', async () => {
  const rules = flowRules([{ on: { project: 1001 }, money: 1, per: 'month' }]);
  const { state, router } = await switchable(rules);

  expect((await router.admit(question(1, 1001))).result).toBe('admitted');
  expect((await router.admit(question(2, 1001))).result).toBe('rejected');
  state.on = false;
  expect((await router.admit(question(3, 1001))).result).toBe('rejected');
  expect((await router.admit(question(4, 1002))).result).toBe('admitted');
});

test('an image rule rejects while the function is down', async () => {
  const rules = flowRules(
    [],
    [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['registry.example.com/**'] }],
  );
  const { state, router } = await switchable(rules);
  state.on = false;

  const result = await router.admit(question(1));
  expect(result).toMatchObject({ result: 'rejected', reason: expect.stringContaining('IMAGE_NOT_ALLOWED') });
});

const hungry = (jobId: number, projectId?: number) => ({
  ...question(jobId, projectId),
  variables: [{ key: 'KUBERNETES_MEMORY_REQUEST', value: '1Gi' }],
});

test.each([
  {
    what: 'starts of an hour',
    limits: [{ on: { group: 100 }, starts: 1, per: 'hour' }],
    rules: [{ id: 'starts', kind: 'window', mode: 'enforce' }],
  },
  {
    what: 'memory',
    limits: [{ on: { group: 100 }, memory: '1Gi' }],
    rules: [{ id: 'memory', kind: 'capacity', mode: 'enforce' }],
  },
])('a group whose $what are used up gets nothing of an outage', async ({ limits, rules: more }) => {
  const rules = flowRules(limits, more);
  const { state, router } = await switchable(rules);
  expect((await router.admit(hungry(1))).result).toBe('admitted');
  expect((await router.admit(hungry(2))).result).toBe('rejected');
  state.on = false;
  const jobs = Array.from({ length: 10 }, (_, index) => hungry(10 + index, 1001 + (index % 2)));
  const during = await Promise.all(jobs.map((job) => router.admit(job)));
  expect(during.filter(({ result }) => result === 'admitted')).toEqual([]);
});
