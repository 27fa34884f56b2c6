import { expect, test } from 'vitest';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { canICommandOn } from '../../../../scripts/cli/can-i/can-i-command.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce', message: 'Ask finance.' },
  { id: 'slots', kind: 'concurrency', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
  { id: 'ours', kind: 'image', mode: 'shadow', allow: ['acme/**'], match: { users: [5] } },
];
const LIMITS = [
  { on: { group: 101 }, money: 3, per: 'month', owner: 'payments-leads' },
  { on: { group: 100 }, jobs: 2 },
];
const bench = () => ledgerBench({ policy: { rules: RULES }, limits: LIMITS });
type Bench = ReturnType<typeof bench>;

async function canI(house: Bench, args: readonly string[], store?: LedgerStore) {
  const { io, told } = house.desk();
  const code = await canICommandOn(house.opening(store)).run([...house.flags, ...args], io);
  expect(house.stillOpen(), 'the ledger is closed again').toBe(0);
  return { code, ...told };
}

const HERE = ['--project', 'acme/payments/checkout'];
const FITS = [...HERE, '--image', 'alpine:3.22'];

test('a job that every rule lets pass is admitted, and what it asks of each limit is told', async () => {
  const { code, out } = await canI(bench(), [...FITS, '--minutes', '20', '--json']);
  expect(code).toBe(EXIT.ok);
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'admitted',
    counters: 'taken as empty',
    terms: { costMicros: 2_000_000, estimateSeconds: 1_200, runnerClass: 'small', group: 'acme/payments' },
    asks: [
      { limit: 'jobs-now', subjectLabel: 'group acme', asked: 1, bound: 2 },
      { limit: 'money-month', subjectLabel: 'group acme/payments', asked: 2_000_000, bound: 3_000_000 },
    ],
    rules: [{ id: 'budgets' }, { id: 'slots' }, { id: 'images' }, { id: 'ours', missing: ['userId'] }],
  });
});

test.each([
  { guarantee: 'an image', args: [...HERE, '--image', 'node:24'], code: 'IMAGE_NOT_ALLOWED' },
  { guarantee: 'a length', args: [...FITS, '--minutes', '31'], code: 'EXCEEDS_LIMIT_ALONE' },
  { guarantee: 'a runner class', args: [...FITS, '--class', 'large'], code: 'EXCEEDS_LIMIT_ALONE' },
])('$guarantee that is not allowed is rejected with the text of the job page', async ({ args, code }) => {
  const house = bench();
  const { code: exit, out } = await canI(house, args);
  expect(exit).toBe(EXIT.wouldReject);
  expect(out).toMatch(/^No: would be rejected/);
  expect(out).toContain(`[${code}] job 1 was not started.`);
});

test.each([
  { says: 'is put in', variables: ['--variable', 'V=3.22'], exit: EXIT.ok },
  { says: 'may lead elsewhere', variables: ['--variable', 'V=3/evil'], exit: EXIT.wouldReject },
  { says: 'that is not set is not allowed', variables: [], exit: EXIT.wouldReject },
])('a variable in the image $says', async ({ variables, exit }) => {
  const { code } = await canI(bench(), [...HERE, '--minutes', '1', '--image', 'alpine:$V', ...variables]);
  expect(code).toBe(exit);
});

test('the text is the one the admit function gives, but for the decision', async () => {
  const house = bench();
  const [decision] = await house.ask([aRequest(1, { image: 'node:24' })]);
  if (decision?.outcome !== 'rejected') throw new Error('the job was not rejected');
  const { out } = await canI(house, [...HERE, '--image', 'node:24', '--job', 'unit', '--json']);
  const body = (text: string) => text.replace(/\nDecision: .*$/, '');
  expect(body(JSON.parse(out).text)).toBe(body(decision.text));
});

test('with a ledger the counters as they are now decide, and their numbers are told', async () => {
  const house = bench();
  await house.ask([aRequest(1), aRequest(2)]);
  const { code, out } = await canI(house, [...FITS, '--ledger', 'local', '--json']);
  expect(code).toBe(EXIT.wouldReject);
  expect(JSON.parse(out)).toMatchObject({
    counters: 'read',
    violations: [{ rule: 'slots', reason: { code: 'CONCURRENCY_FULL', committed: 2 } }],
    asks: [
      { limit: 'jobs-now', settled: 0, held: 2, left: 0 },
      { limit: 'money-month', settled: 0, held: 2_000_000, left: 1_000_000 },
    ],
    rules: [{}, { id: 'slots', violations: [{ reason: { code: 'CONCURRENCY_FULL' } }] }, {}, {}],
  });
  expect((await canI(house, FITS)).code, 'empty counters would have admitted it').toBe(EXIT.ok);
});

test('no counter is touched: the table is only read, admitted or rejected', async () => {
  const house = bench();
  await house.ask([aRequest(1)]);
  const before = [...house.store.dump()];
  const calls: string[] = [];
  const refusing = new Proxy(house.store as LedgerStore, {
    get: (store, name) => {
      if (name !== 'readCounters') throw new Error(`the desk called ${String(name)}`);
      calls.push(name);
      return store.readCounters.bind(store);
    },
  });
  expect((await canI(house, [...FITS, '--ledger', 'local'], refusing)).code).toBe(EXIT.ok);
  expect((await canI(house, [...HERE, '--image', 'node:24', '--ledger', 'local'], refusing)).code).toBe(2);
  expect(calls).toEqual(['readCounters', 'readCounters']);
  expect([...house.store.dump()]).toEqual(before);
});

test('a variable that no rule would see is named, and no value of any is shown', async () => {
  const { out } = await canI(bench(), [
    ...FITS,
    '--variable',
    'MY_OWN=s3cret',
    '--variable',
    'KUBERNETES_CPU_REQUEST=s3cret',
  ]);
  expect(out).toContain('MY_OWN');
  expect(out).not.toContain('KUBERNETES_CPU_REQUEST,');
  expect(out).not.toContain('s3cret');
});

test.each([
  { args: ['--project', 'acme/paiments/checkout'], says: 'did you mean acme/payments/checkout?' },
  { args: ['--group', '999'], says: '--group 999: is not in the directory' },
  { args: [...HERE, '--group', '101'], says: 'expected one of them' },
  { args: [...HERE, '--class', 'larg'], says: 'did you mean large?' },
  { args: [...HERE, '--minutes', '0'], says: '--minutes "0"' },
  { args: [...HERE, '--timeout', 'soon'], says: '--timeout "soon"' },
  { args: [...HERE, '--protected', '--unprotected'], says: 'expected one of them' },
  { args: [...HERE, '--source', 'puss'], says: '--source "puss"' },
  { args: [...HERE, '--now', 'tomorrow'], says: '--now "tomorrow"' },
  { args: [...HERE, '--region', 'eu-central-1'], says: 'belongs to --ledger' },
])('$args is wrong usage: $says', async ({ args, says }) => {
  const run = canI(bench(), args);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(says);
});

test('a value after --variable is not quoted when its name is wrong', async () => {
  await expect(canI(bench(), [...HERE, '--variable', '1X=s3cret'])).rejects.toThrow(/^(?!.*s3cret)/);
});
