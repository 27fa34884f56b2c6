import { expect, test } from 'vitest';
import { reservationsCommandOn } from '../../../../scripts/cli/reservations/ls-command.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

async function house() {
  const bench = ledgerBench({ limits: [{ on: { group: 101 }, money: 50, per: 'month' }] });
  await bench.ask([aRequest(1), aRequest(2, { timeoutSeconds: 7200 }), aRequest(3)]);
  await bench.ledger.settle([{ jobId: 3, durationSeconds: 60, endedAtMs: bench.clock.nowMs() }]);
  const run = async (...args: string[]) => {
    const { io, told } = bench.desk();
    const code = await reservationsCommandOn(bench.opening()).run([...args, ...bench.flags], io);
    expect(bench.stillOpen()).toBe(0);
    return { code, ...told };
  };
  return { ...bench, run };
}

test('jobs that hold are listed, the first due first; those that ended are not', async () => {
  const { run } = await house();
  const { jobs, more } = JSON.parse((await run('--json')).out);
  expect(jobs).toMatchObject([
    { jobId: 1, state: 'HELD', heldMicros: 1_000_000, overdueSeconds: 0, dueAt: '2026-11-21T13:15:00.000Z' },
    { jobId: 2, state: 'HELD' },
  ]);
  expect(more).toBe(false);
  expect((await run()).out).toMatch(/2 jobs hold 2\.00 EUR\n$/);
  expect(JSON.parse((await run('--json', '--count', '1')).out)).toMatchObject({
    jobs: [{ jobId: 1 }],
    more: true,
  });
});

test('--stale lists only jobs past their due time, and by how much', async () => {
  const { run, clock } = await house();
  expect((await run('--stale')).out).toBe('No job is past its due time.\n');
  clock.advance((3600 + 15 * 60 + 90) * 1000);
  const { jobs } = JSON.parse((await run('--stale', '--json')).out);
  expect(jobs).toMatchObject([{ jobId: 1, overdueSeconds: 90 }]);
  expect((await run('--stale')).out).toContain('1.5 min  acme/payments/checkout unit');
});

test.each([[['word']], [['--count', '0']]])('%j is wrong usage', async (args) => {
  const { run } = await house();
  await expect(run(...args)).rejects.toThrow(UsageError);
});
