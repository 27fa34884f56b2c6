/** `tollgate check --ledger`: what the counters of a ledger leave to the jobs of a file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenLedger } from '../../../../scripts/cli/open-ledger.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const GROUP = ['--group', 'acme/payments'];
const TWO_JOBS =
  'unit: { script: x, image: alpine:3.22, timeout: 10m }\nlint: { script: x, image: alpine:3.22 }\n';

function opened() {
  const bench = ledgerBench({
    policy: { rules: [{ id: 'slots', kind: 'concurrency', mode: 'enforce' }] },
    limits: [{ on: { group: 101 }, jobs: 2 }],
  });
  writeFileSync(join(bench.folder, '.gitlab-ci.yml'), TWO_JOBS);
  const check = (args: readonly string[], open: OpenLedger = bench.opening()) =>
    bench.run('check', args, { open });
  return { ...bench, check };
}

test('rejects what the counters of the ledger leave no place for, and holds nothing', async () => {
  const { check, ask, ledger } = opened();
  expect(await check([...GROUP, '--ledger', 'local'])).toMatchObject({ code: EXIT.ok, err: '' });
  await ask([aRequest(1), aRequest(2)]);
  expect((await check(GROUP)).code, 'without --ledger only documents are judged').toBe(EXIT.ok);
  const { code, out } = await check([...GROUP, '--ledger', 'local', '--json']);
  expect(code).toBe(EXIT.wouldReject);
  expect(JSON.parse(out).now).toMatchObject({
    decidedBy: 'ledger',
    jobs: [{ outcome: 'rejected' }, { outcome: 'rejected' }],
    limits: [{ limit: 'jobs-now', label: 'acme/payments', asked: 2, left: 0 }],
  });
  const key = { subject: 'group/101', limit: 'jobs-now', period: 'now' };
  expect((await ledger.readCounters([key]))[0]?.committed).toBe(2);
});

test('a project that the directory of the ledger does not know yet is judged by its group', async () => {
  const { check, ask } = opened();
  await ask([aRequest(1), aRequest(2)]);
  const { code, err } = await check(['--project', 'acme/payments/of-today', '--ledger', 'local']);
  expect([code, err]).toEqual([EXIT.wouldReject, '']);
});

test('a ledger that does not answer leaves the answer of the documents, and exit 1', async () => {
  const { check } = opened();
  const open: OpenLedger = async () => {
    throw new Error('table tollgate-ledger does not answer');
  };
  const { code, out, err } = await check([...GROUP, '--ledger', 'tollgate-ledger'], open);
  expect([code, err]).toEqual([
    EXIT.failed,
    '--ledger: what is left of the limits is not known: table tollgate-ledger does not answer\n',
  ]);
  expect(out).toContain('2 jobs, about 2.00 EUR a run; none would be rejected');
});

test.each([
  { args: ['--ledger', 'local'], says: '--ledger: no group is given: expected --project or --group' },
  { args: [...GROUP, '--region', 'eu-west-1'], says: '--region "eu-west-1": belongs to --ledger' },
  {
    args: [...GROUP, '--ledger', 'local', '--console', 'https://a.example.com'],
    says: 'expected one',
  },
])('$args is refused', async ({ args, says }) => {
  const { check } = opened();
  await expect(check(args)).rejects.toThrow(UsageError);
  await expect(check(args)).rejects.toThrow(says);
});
