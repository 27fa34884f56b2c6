import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { JobEnd } from '../../../../functions/core/ledger/ledger.ts';
import { placeRecords } from '../../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../../functions/core/usage/count-records.ts';
import { readDirectory } from '../../../../scripts/policy/read-documents.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

async function house() {
  const bench = ledgerBench({ policy: { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] } });
  const { clock, store, folder } = bench;
  const settle = (jobId: number, durationSeconds: number, told: Partial<JobEnd> = {}) =>
    bench.ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs(), ...told }]);
  await bench.ask([
    aRequest(1),
    aRequest(2, { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' }),
  ]);
  await settle(1, 600);
  await settle(2, 60, { retryCount: 1, queuedSeconds: 70 });
  clock.advance(Date.UTC(2026, 11, 10) - clock.nowMs());
  await bench.ask([aRequest(3, { runnerTags: ['large'] })]);
  await settle(3, 300);
  clock.advance(Date.UTC(2027, 0, 2) - clock.nowMs());
  const usage = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  const placeOf = placeRecords(readDirectory(`${folder}/directory.yaml`), 'UTC');
  await rebuildUsage(store.dump(), { store: usage, clock, random: () => 0, placeOf, log: silentLog });
  return async (...args: string[]) => (await bench.run('report spend', args, { beside: { usage } })).out;
}

/** Sum of a column of CSV, in micros. */
function summed(text: string, column: string): number {
  const [head = '', ...lines] = text.trim().split('\r\n');
  const at = head.split(',').indexOf(column);
  expect(at).toBeGreaterThanOrEqual(0);
  return lines.reduce((sum, line) => sum + Math.round(Number(line.split(',')[at]) * 1e6), 0);
}

test('a month stands beside the one before, and what is not listed is one row', async () => {
  const run = await house();
  const told = JSON.parse(await run('--month', '2026-12', '--group', 'acme', '--top', '1', '--json'));
  expect(told).toMatchObject({ subject: 'group/100', by: 'group', currency: 'EUR' });
  expect(told.before).toEqual({ fromDay: '2026-11-01', toDay: '2026-11-30' });
  expect(told.rows).toMatchObject([
    { name: 'acme/payments', seconds: 300, micros: 3_000_000, before: { seconds: 600, micros: 1_000_000 } },
  ]);
  expect(told.other).toMatchObject({ rows: 1, micros: 0, before: { seconds: 60, micros: 100_000 } });
  expect(told.total).toMatchObject({ seconds: 300, micros: 3_000_000, before: { micros: 1_100_000 } });
  const text = await run('--month', '2026-12', '--by', 'class');
  expect(text).toContain('large');
  expect(text).toMatch(/total +1 +0 +5 min +3\.00 +1\.10 +1\.90 +173 %/);
});

test('any two days, any period, and files that add up', async () => {
  const run = await house();
  expect(await run('--from', '2026-12-09', '--to', '2026-12-10', '--no-compare', '--by', 'day')).toMatch(
    /2026-12-10 +1 +0 +5 min +3\.00\n/,
  );
  const rows = await run('--period', '2026-q4', '--by', 'project', '--group', 'acme', '--csv');
  expect(summed(rows, 'cost')).toBe(4_100_000);
  const all = await run('--period', '2026-q4', '--all');
  expect(summed(all, 'cost')).toBe(4_100_000);
  expect(all).toContain(',acme/platform,102,acme,1,60,0.100000,');
});

test('what cannot be meant is refused', async () => {
  const run = await house();
  await expect(run('--month', '2026-13')).rejects.toThrow('expected a month like 2026-10');
  await expect(run('--month', '2027-05')).rejects.toThrow('has not begun');
  await expect(run('--group', 'acme/payment')).rejects.toThrow('acme/payment');
  await expect(run('--all', '--group', 'acme/payment')).rejects.toThrow('acme/payment');
  await expect(run('--group', 'acme/payments', '--by', 'hour')).rejects.toThrow('--by: hours are kept');
  await expect(run('--month', '2026-11', '--from', '2026-11-01')).rejects.toThrow('expected one');
  await expect(run('--all', '--by', 'day')).rejects.toThrow('there is no --by');
});
