import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StatementLine } from '../../../../functions/answers/statement/model.ts';
import { spendCommandOn } from '../../../../scripts/cli/report/spend-command.ts';
import { SPEND_KEYS, spendReport } from '../../../../scripts/cli/report/spend-rows.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

async function house() {
  const bench = ledgerBench({ policy: { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] } });
  const settle = (jobId: number, durationSeconds: number) =>
    bench.ledger.settle([{ jobId, durationSeconds, endedAtMs: bench.clock.nowMs() }]);
  await bench.ask([
    aRequest(1),
    aRequest(2, { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' }),
  ]);
  await settle(1, 600);
  await settle(2, 60);
  bench.clock.advance(Date.UTC(2026, 11, 10) - bench.clock.nowMs());
  await bench.ask([aRequest(3, { runnerTags: ['large'] })]);
  await settle(3, 300);
  return async (...args: string[]) => {
    const { io, told } = bench.desk();
    await spendCommandOn(bench.opening()).run([...args, ...bench.flags], io);
    expect(bench.stillOpen()).toBe(0);
    return told.out;
  };
}

test('a month stands beside the one before, and what is not listed is one row', async () => {
  const run = await house();
  const told = JSON.parse(await run('--month', '2026-12', '--top', '1', '--json'));
  expect(told).toMatchObject({ before: '2026-11', by: 'group', currency: 'EUR' });
  expect(told.rows).toEqual([
    { name: 'acme/payments', seconds: 300, micros: 3_000_000, beforeSeconds: 600, beforeMicros: 1_000_000 },
  ]);
  expect(told.other).toEqual({ rows: 1, seconds: 0, micros: 0, beforeSeconds: 60, beforeMicros: 100_000 });
  expect(told.total).toEqual({
    seconds: 300,
    micros: 3_000_000,
    beforeSeconds: 660,
    beforeMicros: 1_100_000,
  });
  const text = await run('--month', '2026-12', '--by', 'class');
  expect(text).toContain('large');
  expect(text).toMatch(/total +5 min +3\.00 +1\.10 +1\.90 +173 %/);
});

test('what cannot be meant is refused', async () => {
  const run = await house();
  await expect(run('--month', '2026-13')).rejects.toThrow('expected a month like 2026-10');
  await expect(run('--month', '2027-05')).rejects.toThrow('has not begun');
  await expect(run('--month', '2026-12', '--group', 'acme/payment')).rejects.toThrow('acme/payment');
});

test('rows and other add up to the jobs of both months to the micro-unit', () => {
  const name = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined });
  const line = fc
    .record({
      groupPath: name,
      projectPath: name,
      runnerClass: fc.constantFrom('small', 'large', 'gpu'),
      day: fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-30'),
      seconds: fc.integer({ min: -1_000, max: 100_000 }),
      micros: fc.integer({ min: -1_000_000, max: 10_000_000_000 }),
    })
    .map((each) => each as unknown as StatementLine);
  fc.assert(
    fc.property(
      fc.array(line),
      fc.array(line),
      fc.constantFrom(...SPEND_KEYS),
      fc.integer({ min: 1, max: 4 }),
      (now, before, by, top) => {
        const { rows, other, total } = spendReport(now, before, by, top);
        const micros = (lines: readonly StatementLine[]) => lines.reduce((sum, each) => sum + each.micros, 0);
        expect(rows.length).toBeLessThanOrEqual(top);
        expect(total).toMatchObject({ micros: micros(now), beforeMicros: micros(before) });
        for (const what of ['micros', 'beforeMicros', 'seconds', 'beforeSeconds'] as const)
          expect(rows.reduce((sum, row) => sum + row[what], other[what])).toBe(total[what]);
      },
    ),
  );
});
