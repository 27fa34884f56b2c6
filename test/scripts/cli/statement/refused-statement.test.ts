import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusedFlag } from '../../../../scripts/cli/report/span.ts';
import { readDirectory } from '../../../../scripts/policy/read-documents.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
import { ledgerBench } from '../ledger-bench.ts';

const BILL =
  'ChargePeriodStart,EffectiveCost,BillingCurrency,Tags\r\n2026-01-05T00:00:00Z,1,EUR,{}\r\n' as const;
const GITLAB = ['--gitlab', 'https://gitlab.example.com', '--token-file', 'token'];

test.each([
  ['statement', ['--group', 'acme', '--by', 'job'], 'it without --by job, --with-prices and --format focus'],
  ['audit', GITLAB, 'a month of the last 90 days, and --ledger rather than --console'],
  ['prices compare', ['bill.csv'], 'a month of the last 90 days, and --ledger rather than --console'],
] as const)('%s of a month whose jobs have expired names flags of its own', async (name, args, expected) => {
  const bench = ledgerBench({});
  writeFileSync(join(bench.folder, 'bill.csv'), BILL);
  writeFileSync(join(bench.folder, 'token'), 'glpat-secret');
  const usage = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  await expect(bench.run(name, ['--month', '2026-01', ...args], { beside: { usage } })).rejects.toThrow(
    `--month "2026-01": only its days are kept after 90 days, or shown by a console; expected ${expected}`,
  );
});

test.each([
  [404, true],
  [422, true],
  [429, false],
  [503, false],
])('a refusal with status %d is wrong usage: %s', (status, isUsage) => {
  const directory = readDirectory(`${ledgerBench({}).folder}/directory.yaml`);
  const error = { code: 'busy', message: 'Too many requests.', remedy: 'Wait a minute.' };
  const thrown = refusedFlag({ status, refused: { error } }, undefined, directory);
  expect([thrown.message, thrown instanceof UsageError]).toEqual([
    'Too many requests. Wait a minute.',
    isUsage,
  ]);
});
