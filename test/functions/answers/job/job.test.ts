import { expect, test } from 'vitest';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import { toRequeueEntry } from '../../../../functions/core/requeue-list.ts';
import { aPolicy } from '../../../policies/documents.ts';
import { claim, counter } from '../../../support/ledger/asks.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aJob, consoleHouse, servedTo, USERS } from '../../console/house.ts';

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

test('a job that found no slot is told that it is retried, and what became of the job that was made of it', async () => {
  const requeue = [{ group: 101, retries: 2, within: '1h' }];
  const { read, ask, apply, ledger, clock, requeue: lists } = consoleHouse({ policy: { requeue } });
  await apply([{ kind: 'set', subject: 'group/104', unit: 'jobs', amount: 1 }]);
  await ask([aJob(1), aJob(2)]);
  const of = async (word: string) => {
    const answer = await read.job(word, USERS.finance);
    return answer.outcome === 'found' ? answer.explanation : answer;
  };
  const found = await of('2');
  expect(found).toMatchObject({
    retry: { state: 'waiting', groupId: 101, retries: 0, retriesMax: 2, untilMs: clock.nowMs() + 3_600_000 },
    rejectionText: expect.stringContaining(
      'Tollgate retries this job when the limit allows it, at most 2 times within 60 min',
    ),
  });
  expect(await of('1')).not.toHaveProperty('retry');

  const record = await ledger.readRecord(2);
  if (record === undefined) throw new Error('job 2 has a record');
  const [settings] = aPolicy({ requeue }).requeue ?? [];
  const entry = settings && toRequeueEntry(record, [], settings);
  if (entry === undefined) throw new Error('job 2 may be retried');
  const retriedAtMs = clock.nowMs();
  const retried = { ...entry, state: 'retried' as const, retries: 1, newJobId: 3, retriedAtMs };
  await lists.write({ groupId: 101, rev: 0, entries: [retried] });
  expect(await of('2')).toMatchObject({ retry: { state: 'retried', newJobId: 3, became: 'unasked' } });

  await ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
  const slot = counter('group/104', 'jobs-now', 'now');
  const claims = [claim('group/104', 1, 1, { counter: slot, unit: 'jobs' })];
  await ledger.reserve({ jobId: 2, claims, untilMs: clock.nowMs() + 180_000 });
  await ledger.handOver(2, 3);
  expect(await of('2')).toMatchObject({ retry: { became: 'kept' } });
  expect(await of('3')).toMatchObject({
    outcome: 'unknown',
    sentence: expect.stringMatching(/A slot is reserved for it until .* \(in 3 minutes\)/),
  });
  await ask([aJob(3)]);
  expect(await of('2')).toMatchObject({ retry: { became: 'admitted' } });
  expect(await of('3')).toMatchObject({ outcome: 'admitted' });
});

test('nobody is told of retries for anything but room, or where no group agreed', async () => {
  const { read } = await rejectedAbove({ requeue: [{ group: 101, retries: 2, within: '1h' }] });
  const house = consoleHouse();
  await house.apply([{ kind: 'set', subject: 'group/104', unit: 'jobs', amount: 1 }]);
  await house.ask([aJob(1), aJob(4711)]);
  for (const reader of [read, house.read]) {
    const answer = await reader.job('4711', USERS.finance);
    if (answer.outcome !== 'found') throw new Error(answer.outcome);
    expect(answer.explanation.outcome).toBe('rejected');
    expect(answer.explanation).not.toHaveProperty('retry');
    expect(answer.explanation.rejectionText).not.toContain('consent');
  }
});

async function jobPage(house: ReturnType<typeof consoleHouse>): Promise<string> {
  const pages = createPages({
    ...{
      limitEdits: house.limitEdits,
      read: house.read,
      policy: house.policy,
      clock: house.clock,
      zone: 'UTC',
    },
    directory: async () => house.directory,
    uploads: createUploads({ table: memoryLimitTable(), clock: house.clock, newId: () => 'u1' }),
    ...{ origin: 'https://budget.example.com', log: silentLog },
  });
  return (await servedTo(USERS.finance, '/', pages).request('/jobs/4711')).text();
}

test('a rejected job that would be kept waiting for room now says for how long, by the API and on its page', async () => {
  const rules = [{ id: 'slots', kind: 'concurrency', mode: 'enforce' }];
  const house = consoleHouse({ policy: { rules } });
  await house.apply([{ kind: 'set', subject: 'group/104', unit: 'jobs', amount: 1, wait: '20s' }]);
  await house.ask([aJob(4710), job()]);
  const answer = await house.read.job('4711', USERS.finance);
  if (answer.outcome !== 'found') throw new Error(answer.outcome);
  expect(answer.explanation.now).toMatchObject({ outcome: 'rejected', waitSeconds: 20 });
  expect(await jobPage(house)).toContain('<strong>rejected</strong>, unless it gets room within 20 s:');
});

test('a job whose group was frozen since is told so, by the API and on its page, and is not told to retry', async () => {
  const house = consoleHouse({ policy: { disclose: { default: 'all' } } });
  await house.apply([{ kind: 'set', subject: 'group/104', unit: 'money', amount: 0, per: 'month' }]);
  await house.ask([job()]);
  await house.apply([
    { kind: 'set', subject: 'group/104', unit: 'money', amount: 500, per: 'month' },
    { kind: 'freeze', subject: 'group/101', reason: 'year-end close' },
  ]);
  const answer = await house.read.job('4711', USERS.finance);
  if (answer.outcome !== 'found') throw new Error(answer.outcome);
  expect(answer.explanation.now).toMatchObject({
    outcome: 'rejected',
    reasons: [{ rule: 'freezes', mode: 'enforce', code: 'GROUP_FROZEN' }],
  });
  expect(answer.explanation.rules).toContainEqual(
    expect.objectContaining({ id: 'freezes', now: expect.objectContaining({ outcome: 'matched' }) }),
  );
  const page = await jobPage(house);
  expect(page).toMatch(
    /If the job started now, it would be <strong>rejected<\/strong>:.*acme\/payments.*year-end close/s,
  );
  expect(page).not.toContain('Retry it in GitLab');
});

test('the last runs of a job are what its price now rests on, as for the admit function', async () => {
  const house = consoleHouse();
  await house.apply([{ kind: 'set', subject: 'group/104', unit: 'money', amount: 500, per: 'month' }]);
  await house.ask([1, 2, 3, 4, 5].map((jobId) => aJob(jobId)));
  const ends = [1, 2, 3, 4, 5].map((jobId) => ({
    jobId,
    durationSeconds: 120,
    endedAtMs: house.clock.nowMs(),
  }));
  await house.ledger.settle(ends);
  await house.roll();
  const answer = await house.read.job('1', USERS.finance);
  if (answer.outcome !== 'found') throw new Error(answer.outcome);
  expect(answer.explanation.atDecision.estimateSeconds).toBe(600);
  expect(answer.explanation.now?.estimateSeconds).toBeLessThan(600);
});
