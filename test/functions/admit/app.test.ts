import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../functions/admit/app.ts';
import type { DecideDeps } from '../../../functions/core/admission/judge.ts';
import {
  ADMISSIONS_PATH,
  BODY_BYTES_MAX,
  HEALTH_PATH,
  UNMETERED_PATH,
} from '../../../functions/core/contract/admissions.ts';
import { type Log, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Decision } from '../../../policies/decision.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { MemoryStore, type StoreFault, type StoreOperation } from '../../support/ledger/memory-store.ts';

const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };

interface AppOptions extends Partial<DecideDeps> {
  readonly limits?: readonly unknown[];
  readonly fault?: (operation: StoreOperation) => StoreFault | undefined;
}

function anApp({ limits, fault = () => undefined, ...over }: AppOptions = {}) {
  const rules = flowRules(limits ?? [{ on: { group: 100 }, money: 5, per: 'month' }], [IMAGES]);
  const store = new MemoryStore({ instance: 'app.example.com', fault });
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: note, warn: note, error: note };
  const ledger = createLedger({ store });
  const app = createAdmitApp({ ledger, currentRules: async () => rules, clock: systemClock, log, ...over });
  const post = (path: string, body: unknown) =>
    app.request(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const decide = async (requests: readonly unknown[], remainingMs = 2_000): Promise<readonly Decision[]> => {
    const response = await post(ADMISSIONS_PATH, { requests, remainingMs });
    expect(response.status).toBe(200);
    return ((await response.json()) as { decisions: Decision[] }).decisions;
  };
  return { app, post, decide, ledger, lines };
}

const aRequest = (jobId: number, more: object = {}) => ({
  jobId,
  jobName: 'unit',
  projectId: 1001,
  namespaceId: 101,
  rootNamespaceId: 100,
  image: 'alpine:3.22',
  timeoutSeconds: 3600,
  ...more,
});

test('names the shared counters that its jobs had to fight for, and says nothing where there was no fight', async () => {
  const faults: StoreFault[] = [{ kind: 'conflict' }];
  const { post } = anApp({
    limits: [
      { on: 'instance', jobs: 9 },
      { on: { group: 100 }, money: 5, per: 'month' },
    ],
    fault: (operation) => (operation === 'transact' ? faults.shift() : undefined),
  });
  const answered = async (jobIds: readonly number[]) => {
    const requests = jobIds.map((jobId) => aRequest(jobId));
    return (await post(ADMISSIONS_PATH, { requests, remainingMs: 2_000 })).json();
  };
  expect(await answered([1, 2])).toMatchObject({
    decisions: [{ outcome: 'admitted' }, { outcome: 'admitted' }],
    contended: [{ counter: 'instance|jobs-now|now', jobIds: [1, 2] }],
  });
  expect(await answered([3])).not.toHaveProperty('contended');
});

test('decides each request on its own, in order: admitted, unreadable, rejected', async () => {
  const { decide } = anApp();
  const decisions = await decide([
    aRequest(1),
    { jobId: 'seven' },
    aRequest(3, { image: 'ubuntu:26.04' }),
    aRequest(4),
  ]);
  expect(decisions.map(({ outcome }) => outcome)).toEqual(['admitted', 'undecided', 'rejected', 'admitted']);
  expect(decisions[1]).toMatchObject({ cause: 'invalid', problems: [expect.stringMatching(/^jobId/)] });
});

test('says what it cost, and for a rejection why, with the decision id in the text', async () => {
  const { decide } = anApp({
    limits: [{ on: { group: 101 }, money: 1, per: 'month', owner: 'payments-leads' }],
  });
  const [first, second] = await decide([aRequest(1), aRequest(2)]);
  expect(first).toMatchObject({
    decisionId: 'd-1-1',
    terms: {
      costMicros: 1_000_000,
      currency: 'EUR',
      runnerClass: 'small',
      estimateSeconds: 600,
      group: 'acme/payments',
    },
  });
  expect(second).toMatchObject({
    outcome: 'rejected',
    violations: [{ reason: { code: 'BUDGET_EXHAUSTED' } }],
  });
  const text = second?.outcome === 'rejected' ? second.text : '';
  expect(text).toMatch(/^CI budget of group acme\/payments is used up/);
  expect(text).toContain('payments-leads');
  expect(text).toMatch(/d-2-1$/);
});

test('every decision names its job, and the answer the batch it is for', async () => {
  const { post } = anApp();
  const requests = [aRequest(3), { jobId: 7, projectId: 'x' }, aRequest(1), 'no request'];
  const response = await post(ADMISSIONS_PATH, { requests, remainingMs: 2_000, batch: 'b4tch' });
  const body = (await response.json()) as { batch: string; decisions: { jobId?: number; outcome: string }[] };
  expect(body.batch).toBe('b4tch');
  expect(body.decisions.map(({ jobId, outcome }) => [jobId, outcome])).toEqual([
    [3, 'admitted'],
    [7, 'undecided'],
    [1, 'admitted'],
    [undefined, 'undecided'],
  ]);
});

test('a broken envelope is 400 with every problem, and decides nothing', async () => {
  const { post, ledger } = anApp();
  const response = await post(ADMISSIONS_PATH, { requests: Array(97).fill(aRequest(1)) });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    problems: [expect.stringMatching(/^requests has 97/), expect.stringMatching(/^remainingMs is missing/)],
  });
  expect(await ledger.readRecord(1)).toBeUndefined();
});

test.each([['not json'], ['[]'], ['{"__proto__": {"requests": []}}']])(
  'refuses %s with 400',
  async (body) => {
    const { post } = anApp();
    expect((await post(ADMISSIONS_PATH, body)).status).toBe(400);
  },
);

test('refuses a body beyond the limit with 413', async () => {
  const { post } = anApp();
  expect((await post(ADMISSIONS_PATH, 'x'.repeat(BODY_BYTES_MAX + 1))).status).toBe(413);
});

test('charges unmetered answers unchecked, in the period they were given in', async () => {
  const { post, ledger } = anApp();
  const october = Date.UTC(2026, 9, 31, 12);
  const response = await post(UNMETERED_PATH, {
    answers: [
      { request: aRequest(1), answered: 'admitted', cause: 'deadline', answeredAtMs: october },
      { request: { jobId: -1 }, answered: 'admitted', cause: 'deadline', answeredAtMs: october },
    ],
  });
  expect(await response.json()).toEqual({
    results: [
      { jobId: 1, outcome: 'recorded' },
      { jobId: -1, outcome: 'invalid' },
    ],
  });
  const key = { subject: 'group/100', limit: 'money-month', period: '2026-10' };
  const [counter] = await ledger.readCounters([key]);
  expect(counter).toMatchObject({ committed: 1_000_000, unchecked: { unmetered: 1_000_000 } });
});

test('charges unmetered answers by what is known of how long such jobs last', async () => {
  const asked: unknown[] = [];
  const { post, ledger } = anApp({
    estimatorFor: async (requests) => {
      asked.push(...requests.map(({ jobId }) => jobId));
      return { estimateSeconds: () => 60 };
    },
  });
  const answeredAtMs = Date.UTC(2026, 9, 31, 12);
  const answers = [{ request: aRequest(1), answered: 'admitted', cause: 'deadline', answeredAtMs }];
  await post(UNMETERED_PATH, { answers });
  expect(asked).toEqual([1]);
  const key = { subject: 'group/100', limit: 'money-month', period: '2026-10' };
  expect(await ledger.readCounters([key])).toMatchObject([{ committed: 100_000 }]);
});

test('when the limits cannot be read again, what is held stays held and only the others are undecided', async () => {
  const rules = flowRules([{ on: { group: 100 }, money: 1, per: 'month' }]);
  let reads = 0;
  const currentRules = async () => {
    reads += 1;
    if (reads > 1) throw new Error('limits_unavailable');
    return { ...rules, limitsAreCurrent: async () => false };
  };
  expect(await anApp({ currentRules }).decide([aRequest(1), aRequest(2), aRequest(3)])).toMatchObject([
    { outcome: 'admitted', decisionId: 'd-1-1' },
    { outcome: 'undecided', cause: 'unavailable' },
    { outcome: 'undecided', cause: 'unavailable' },
  ]);
});

test('limits that change twice while a job is decided still decide it', async () => {
  let edits = 0;
  const currentRules = async () => {
    edits += 1;
    const rules = flowRules([{ on: { group: 100 }, money: edits / 4, per: 'month' }]);
    return { ...rules, limitsAreCurrent: async () => false };
  };
  expect(await anApp({ currentRules }).decide([aRequest(1)])).toMatchObject([
    { outcome: 'rejected', violations: [{ reason: { code: 'EXCEEDS_LIMIT_ALONE', limitAmount: 500_000 } }] },
  ]);
  expect(edits).toBe(2);
});

test('answers a health check', async () => {
  const { app } = anApp();
  expect(await (await app.request(HEALTH_PATH)).json()).toEqual({ status: 'ok' });
});

test('a failure inside is a bare 500, and neither answer nor log quotes the request', async () => {
  const currentRules = () => Promise.reject(new Error('glrct-secret in a message'));
  const { post, lines } = anApp({ ledger: {} as never, currentRules });
  const response = await post(ADMISSIONS_PATH, { requests: [aRequest(1)], remainingMs: 1_000 });
  expect(response.status).toBe(500);
  expect(`${await response.text()}${lines.join()}`).not.toContain('secret');
});
