import { expect, test } from 'vitest';
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

const canI = (house: Bench, args: readonly string[]) => house.run('can-i', args);

const HERE = ['--project', 'acme/payments/checkout'];
const FITS = [...HERE, '--image', 'alpine:3.22'];

test('a job that every rule lets pass is admitted, and what it asks of each limit is told', async () => {
  const { code, out } = await canI(bench(), [...FITS, '--minutes', '20', '--json']);
  expect(code).toBe(EXIT.ok);
  expect(JSON.parse(out)).toMatchObject({
    decidedBy: 'rules',
    place: { path: 'acme/payments/checkout' },
    jobs: [
      {
        ...{ outcome: 'admitted', costMicros: 2_000_000, estimateSeconds: 1_200, runnerClass: 'small' },
        rules: [
          { id: 'budgets' },
          { id: 'slots' },
          { id: 'images' },
          { id: 'ours', now: { detail: 'userId' } },
        ],
      },
    ],
    limits: [
      { limit: 'money-month', label: 'acme/payments', asked: 2_000_000, left: 3_000_000 },
      { limit: 'jobs-now', label: 'acme', asked: 1, left: 2 },
    ],
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
  expect(out).toContain(`[${code}] job "job" was not started.`);
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
  expect(body(JSON.parse(out).jobs[0].text)).toBe(body(decision.text));
});

test('with a ledger the counters as they are now decide, and their numbers are told', async () => {
  const house = bench();
  await house.ask([aRequest(1), aRequest(2)]);
  const { code, out } = await canI(house, [...FITS, '--ledger', 'local', '--json']);
  expect(code).toBe(EXIT.wouldReject);
  expect(JSON.parse(out)).toMatchObject({
    decidedBy: 'ledger',
    jobs: [
      {
        reasons: [
          {
            rule: 'slots',
            code: 'CONCURRENCY_FULL',
            text: expect.stringContaining('2 of 2 concurrent jobs'),
          },
        ],
        rules: [{}, { id: 'slots', now: { violations: [{ code: 'CONCURRENCY_FULL' }] } }, {}, {}],
      },
    ],
    limits: [
      { limit: 'money-month', left: 1_000_000 },
      { limit: 'jobs-now', left: 0, fits: false },
    ],
  });
  expect((await canI(house, FITS)).code, 'empty counters would have admitted it').toBe(EXIT.ok);
});

test('no counter is touched: the table is only read, admitted or rejected', async () => {
  const house = bench();
  await house.ask([aRequest(1)]);
  const before = [...house.store.dump()];
  expect((await canI(house, [...FITS, '--ledger', 'local'])).code).toBe(EXIT.ok);
  expect((await canI(house, [...HERE, '--image', 'node:24', '--ledger', 'local'])).code).toBe(2);
  expect([...house.store.dump()]).toEqual(before);
});

test('a variable that no rule would see is named, and no value of any is shown', async () => {
  const hidden = ['--variable', 'MY_OWN=s3cret', '--variable', 'KUBERNETES_CPU_REQUEST=s3cret'];
  const { out } = await canI(bench(), [...FITS, ...hidden]);
  expect(out).toContain('MY_OWN');
  expect(out).not.toContain('KUBERNETES_CPU_REQUEST,');
  expect(out).not.toContain('s3cret');
  await expect(canI(bench(), [...HERE, '--variable', '1X=s3cret'])).rejects.toThrow(/^(?!.*s3cret)/);
});

test.each<[args: string[], says: string]>([
  [['--project', 'acme/paiments/checkout'], 'did you mean acme/payments/checkout?'],
  [['--group', '999'], '--group 999: is not in the directory'],
  [[...HERE, '--group', '101'], 'expected one'],
  [[...HERE, '--class', 'larg'], 'did you mean large?'],
  [[...HERE, '--minutes', '0'], '--minutes "0"'],
  [[...HERE, '--timeout', 'soon'], '--timeout "soon"'],
  [[...HERE, '--protected', '--unprotected'], 'expected one'],
  [[...HERE, '--source', 'puss'], '--source "puss"'],
  [[...HERE, '--now', 'tomorrow'], '--now "tomorrow"'],
  [[...HERE, '--region', 'eu-central-1'], 'belongs to --ledger'],
  [['--image', 'alpine:3.22'], 'no group is given: expected --project or --group'],
])('%j is wrong usage: %s', async (args, says) => {
  const run = canI(bench(), args);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(says);
});
