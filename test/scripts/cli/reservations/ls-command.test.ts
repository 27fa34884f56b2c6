import { expect, test } from 'vitest';
import type { WaitingLine } from '../../../../functions/core/contract/admissions.ts';
import { claim, counter } from '../../../support/ledger/asks.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

type Beat = { readonly relayId: string; readonly atMs: number; readonly openStreams: number };

/** Runs the command beside a ledger, with relays that sent these heartbeats. */
const ran = (
  { run }: ReturnType<typeof ledgerBench>,
  args: readonly string[],
  heartbeats: readonly Beat[] = [],
) => run('reservations ls', args, { beside: { relayHeartbeats: async () => heartbeats } });

async function house() {
  const bench = ledgerBench({ limits: [{ on: { group: 101 }, money: 50, per: 'month' }] });
  await bench.ask([aRequest(1), aRequest(2, { timeoutSeconds: 7200 }), aRequest(3)]);
  await bench.ledger.settle([{ jobId: 3, durationSeconds: 60, endedAtMs: bench.clock.nowMs() }]);
  return { ...bench, list: (...args: string[]) => ran(bench, args) };
}

test('jobs that hold are listed, the first due first; those that ended are not', async () => {
  const { list } = await house();
  const { jobs, more } = JSON.parse((await list('--json')).out);
  expect(jobs).toMatchObject([
    { jobId: 1, state: 'HELD', heldMicros: 1_000_000, overdueSeconds: 0, dueAt: '2026-11-21T13:15:00.000Z' },
    { jobId: 2, state: 'HELD' },
  ]);
  expect(more).toBe(false);
  expect((await list()).out).toMatch(/2 jobs hold 2\.00 EUR\n$/);
  expect(JSON.parse((await list('--json', '--count', '1')).out)).toMatchObject({
    jobs: [{ jobId: 1 }],
    more: true,
  });
});

test('--stale lists only jobs past their due time, and by how much', async () => {
  const { list, clock } = await house();
  expect((await list('--stale')).out).toBe('No job is past its due time.\n');
  clock.advance((3600 + 15 * 60 + 90) * 1000);
  const { jobs } = JSON.parse((await list('--stale', '--json')).out);
  expect(jobs).toMatchObject([{ jobId: 1, overdueSeconds: 90 }]);
  expect((await list('--stale')).out).toContain('1.5 min  acme/payments/checkout unit');
});

test('jobs that wait for room are told by group and limit, of all relays that beat lately', async () => {
  const bench = await house();
  const atMs = bench.clock.nowMs();
  const run = (waiting: readonly WaitingLine[], ...args: string[]) =>
    ran(
      bench,
      args,
      ['a', 'b'].map((relayId) => ({ relayId, atMs, openStreams: 8, waiting })),
    );
  const lines = [
    { root: '100', counter: 'instance|cpu-now|now', jobs: 1 },
    { root: '100', counter: 'group/101|jobs-now|now', jobs: 3, longestMs: 12_000 },
  ];
  const { out } = await run(lines, '--json');
  expect(JSON.parse(out).waiting).toEqual([
    { ...lines[0], jobs: 2 },
    { ...lines[1], jobs: 6 },
  ]);
  expect((await run(lines)).out).toContain(
    '6 jobs of acme wait for room: jobs-now of group/101, the longest for 12 seconds\n',
  );
  bench.clock.advance(120_000);
  expect(JSON.parse((await run(lines, '--json')).out).waiting).toEqual([]);
});

test('a slot that is kept for a retried job is listed, and holds no money', async () => {
  const rules = [{ id: 'slots', kind: 'concurrency', mode: 'enforce' }];
  const bench = ledgerBench({ policy: { rules }, limits: [{ on: { group: 101 }, jobs: 1 }] });
  const { ask, ledger, clock } = bench;
  await ask([aRequest(1), aRequest(2)]);
  await ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
  const slot = counter('group/101', 'jobs-now', 'now');
  const claims = [claim('group/101', 1, 1, { counter: slot, unit: 'jobs' })];
  expect(await ledger.reserve({ jobId: 2, claims, untilMs: clock.nowMs() + 180_000 })).toBe('reserved');
  const listed = async () => JSON.parse((await ran(bench, ['--json'])).out).jobs;
  expect(await listed()).toMatchObject([{ jobId: 2, state: 'RESERVED', heldMicros: 0 }]);
  await ledger.handOver(2, 3);
  expect(await listed()).toMatchObject([{ jobId: 3, state: 'RESERVED', heldMicros: 0 }]);
});
