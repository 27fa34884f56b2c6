import { describe, expect, test } from 'vitest';
import type { JobExplanation } from '../../../../functions/answers/job/model.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { replaceUserIds } from '../../../../functions/core/ledger/user-ids.ts';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { storeWith } from '../../../../scripts/cli/open-ledger.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce', message: 'Ask finance.' },
  { id: 'slots', kind: 'concurrency', mode: 'shadow' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
  { id: 'branches', kind: 'image', mode: 'warn', deny: ['alpine:*'], match: { refs: ['release/*'] } },
];
const LIMITS = [
  { on: { group: 101 }, money: 2, per: 'month', owner: 'payments-leads' },
  { on: { group: 100 }, jobs: 1 },
];

const bench = () => ledgerBench({ policy: { rules: RULES }, limits: LIMITS });
type Bench = ReturnType<typeof bench>;

const explained = (house: Bench, ...args: string[]) => house.run('explain', args);

async function explanationOf(house: Bench, word: string): Promise<JobExplanation> {
  const { code, out } = await explained(house, word, '--json');
  expect(code).toBe(EXIT.ok);
  return JSON.parse(out);
}

test('people read the times of the deployment, with the name of its zone; --json has instants', async () => {
  const house = bench();
  await house.ask([aRequest(1)]);
  const env = { TOLLGATE_ROLLUP_ZONE: 'Europe/Berlin' };
  const told = await house.run('explain', ['d-1-1'], { env });
  expect(told.out).toMatch(/decided +21 Nov 2026 13:00 Europe\/Berlin, answered by/);
  expect(told.out).not.toContain('UTC');
  expect((await explanationOf(house, 'd-1-1')).decidedAtMs).toBe(Date.parse('2026-11-21T12:00:00Z'));
});

test('a rejection: the rule, the numbers it met, what they are now, and the text the developer read', async () => {
  const house = bench();
  const [, , rejected] = await house.ask([aRequest(1), aRequest(2), aRequest(3)]);
  await house.ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: house.clock.nowMs() }]);
  const found = await explanationOf(house, 'd-3-1');
  expect(found).toMatchObject({
    jobId: 3,
    decisionId: 'd-3-1',
    outcome: 'rejected',
    state: 'REJECTED',
    answered: 'ledger',
    job: { name: 'unit', projectPath: 'acme/payments/checkout', pipelineId: 5000 },
    atDecision: { costMicros: 1_000_000, runnerClass: 'small', priceVersion: '1' },
  });
  const money = found.counters.find(({ unit }) => unit === 'micros');
  expect(money?.atDecision).toEqual({
    jobHeld: 0,
    jobCounts: 0,
    checked: true,
    seen: { committed: 2_000_000, bound: 2_000_000, left: 0, asked: 1_000_000 },
  });
  // Job 1 turned out to cost 0.10: 0.90 came free, which is not enough.
  expect(money?.now).toEqual({
    settled: 100_000,
    held: 1_000_000,
    bound: 2_000_000,
    left: 900_000,
    mode: 'enforce',
  });
  expect(found.now).toMatchObject({
    outcome: 'rejected',
    reasons: [
      { rule: 'budgets', code: 'BUDGET_EXHAUSTED', text: expect.stringContaining('0.10 spent + 1.00 held') },
    ],
  });
  expect(found.rules.find(({ id }) => id === 'budgets')?.atDecision).toMatchObject([
    { code: 'BUDGET_EXHAUSTED', text: expect.stringContaining('2.00 held') },
  ]);
  expect(rejected?.outcome === 'rejected' && rejected.text).toBe(found.rejectionText);
});

test('an admitted job: every rule with what it said then and says now, its hold and its shadow', async () => {
  const house = bench();
  await house.ask([aRequest(1), aRequest(2, { ref: 'release/1' })]);
  const found = await explanationOf(house, '2');
  expect(found).toMatchObject({ outcome: 'admitted', state: 'HELD' });
  expect(found.rejectionText).toBeUndefined();
  expect(
    found.rules.map(({ id, mode, atDecision, now }) => [
      id,
      mode,
      atDecision.map(({ code }) => code),
      now?.outcome,
      now?.violations.map(({ code }) => code),
    ]),
  ).toEqual([
    ['budgets', 'enforce', [], 'matched', []],
    ['slots', 'shadow', ['CONCURRENCY_FULL'], 'matched', ['CONCURRENCY_FULL']],
    ['images', 'enforce', [], 'matched', []],
    ['branches', 'warn', ['IMAGE_NOT_ALLOWED'], 'matched', ['IMAGE_NOT_ALLOWED']],
  ]);
  // What fitted is not kept by parts.
  expect(found.counters.find(({ unit }) => unit === 'jobs')?.atDecision?.seen).toEqual({
    committed: 1,
    bound: 1,
    left: 0,
    asked: 1,
  });
  // Its own hold does not stand in its way when it is asked about again.
  expect(found.now).toMatchObject({ outcome: 'admitted' });
  expect(found.counters.find(({ unit }) => unit === 'micros')).toMatchObject({
    atDecision: { jobHeld: 1_000_000, jobCounts: 1_000_000 },
    now: { held: 2_000_000, left: 0 },
  });
});

/** The rules above, and one more. */
const withRule = (rule: object) => ledgerBench({ policy: { rules: [...RULES, rule] } });

describe('what was not recorded is said', () => {
  test("variables' values: the rules that read them are not asked again", async () => {
    const build = { build: { cpu: '4' }, on_missing: 'reject' };
    const house = withRule({ id: 'sizes', kind: 'resources', mode: 'shadow', ...build });
    const variables = { KUBERNETES_CPU_LIMIT: '64' };
    await house.ask([aRequest(1, { variables })]);
    const found = await explanationOf(house, '1');
    expect(found.rules.find(({ id }) => id === 'sizes')?.whyNot).toMatch(/variables/);
    expect(found.now?.reasons).toEqual([]);
  });

  test('the user, once a pseudonym stands for the id: rules about users are not asked again', async () => {
    const house = withRule({
      ...{ id: 'robots', kind: 'image', mode: 'enforce', deny: ['alpine:*'] },
      ...{ match: { users: [99] }, on_missing: 'reject' },
    });
    const { clock, store } = house;
    await house.ask([aRequest(1)]);
    await house.ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
    clock.advance(91 * 86_400_000);
    const keys = { keyOf: async () => new Uint8Array(32) };
    await replaceUserIds([1], Number.POSITIVE_INFINITY, { store, keys, clock });
    const found = await explanationOf(house, '1');
    expect(found.now).toMatchObject({ outcome: 'admitted', reasons: [] });
    expect(found.rules.find(({ id }) => id === 'robots')?.whyNot).toMatch(/user/);
  });

  test('a record without the question: no rule is asked, the counters are told all the same', async () => {
    const house = bench();
    await house.ask([aRequest(1)]);
    const [record] = await house.store.readRecords([1], { timeoutMs: 1_000 });
    if (record === undefined) throw new Error('job 1 was held and has no record');
    const { asked: _asked, ...facts } = record.facts;
    const older = { ...record, facts, rev: 2 };
    await house.store.transact([{ kind: 'record', record: older, replaces: record }], {
      token: 'older',
      timeoutMs: 1_000,
    });
    const found = await explanationOf(house, '1');
    expect(found.now).toBeUndefined();
    expect(found.rules.every(({ whyNot }) => whyNot !== undefined)).toBe(true);
    expect(found.counters).toHaveLength(2);
  });
});

test.each([
  ['99', /Nothing is known of job 99/],
  ['d-1-2', /d-1-1; of d-1-2 nothing is kept/],
  ['unit', /unit/],
  ['0', /0/],
  ['1 2', /one job id/],
  ['1 --frist', /--frist/],
  ['', /expected a job id/],
])('"%s" is wrong usage, told in a sentence', async (words, message) => {
  const house = bench();
  await house.ask([aRequest(1)]);
  const [word = '', ...more] = words.split(' ');
  const run = explained(house, word, ...more);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(message);
});

test('a table that does not answer is a failure, and the ledger is closed all the same', async () => {
  const house = bench();
  const gone = storeWith<LedgerStore>(house.store, {
    readRecords: () => Promise.reject(new LedgerError('ledger_unavailable', 'no answer')),
  });
  await expect(house.run('explain', ['1'], { store: gone })).rejects.toThrow(/no answer/);
});

test('for people: plain lines that no name can forge or colour', async () => {
  const house = bench();
  await house.ask([aRequest(1), aRequest(2), aRequest(3, { jobName: 'unit \u001b[2J\u202e evil' })]);
  const stored = JSON.stringify([...house.store.dump()]);
  const { out } = await explained(house, '3');
  expect(JSON.stringify([...house.store.dump()]), 'nothing is written').toBe(stored);
  expect(out).not.toContain('\u001b');
  expect(out).not.toContain('\u202e');
  // The text of a rejection has tests of its own; the version is a hash of the whole document.
  const [before = '', after = ''] = out.split('Text for the developer');
  expect(after).toContain('Decision: d-3-1');
  const lines = before.replace(/policy +[\da-f]+/, 'policy       <version>').split('\n');
  expect(lines.map((line) => line.trimEnd()).join('\n')).toMatchSnapshot();
});
