import { expect, test } from 'vitest';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { counterName } from '../../../../policies/claim.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const LIMITS = [{ on: { group: 101 }, money: 10, per: 'month' }];
const KEY = { subject: 'group/101', limit: 'money-month', period: '2026-11' };

async function house(drifting: boolean) {
  const bench = ledgerBench({ limits: LIMITS });
  await bench.ask([aRequest(1), aRequest(2)]);
  if (drifting) await drift(bench.store);
  return bench;
}

/** Somebody's mistake: a write without a record. */
async function drift(store: LedgerStore): Promise<void> {
  const write = { kind: 'counter', key: KEY, committed: 7, fitted: 7, settled: 0, unchecked: {} } as const;
  await store.transact([write], { token: 'drift', timeoutMs: 1_000 });
}

async function run(bench: Awaited<ReturnType<typeof house>>, args: string[], agrees?: boolean) {
  let asked = 0;
  const answer = () => {
    asked += 1;
    return agrees;
  };
  const told = await bench.run('rebuild', args, { answer, openToRepair: bench.opening(bench.store) });
  return { asked, ...told };
}

const shown = async (bench: Awaited<ReturnType<typeof house>>): Promise<number | undefined> =>
  (await bench.ledger.readCounters([KEY]))[0]?.committed;

test('drift is told per counter, with what it shows and what its records make, and nothing is written', async () => {
  const bench = await house(true);
  const { code, out } = await run(bench, []);
  expect(code).toBe(EXIT.wouldReject);
  expect(out).toMatch(/group\/101\|money-month\|2026-11 +committed +2,000,007 +2,000,000 +7\n/);
  expect(await shown(bench)).toBe(2_000_007);
  const found = JSON.parse((await run(bench, ['--json'])).out);
  expect(found.drift.map(({ key }: { key: typeof KEY }) => counterName(key))).toEqual([counterName(KEY)]);
});

test.each([
  { args: ['--repair'], agrees: true, asked: 1 },
  { args: ['--repair', '--yes'], agrees: undefined, asked: 0 },
])('$args repairs when that is confirmed', async ({ args, agrees, asked }) => {
  const bench = await house(true);
  expect(await run(bench, args, agrees)).toMatchObject({ code: EXIT.ok, asked });
  expect(await shown(bench)).toBe(2_000_000);
});

test('a repair that is declined writes nothing', async () => {
  const bench = await house(true);
  expect(await run(bench, ['--repair'], false)).toMatchObject({
    code: EXIT.wouldReject,
    err: 'Nothing was written.\n',
  });
  expect(await shown(bench)).toBe(2_000_007);
});

test('--usage counts what usage lacks, touches no counter, and finds nothing the second time', async () => {
  const bench = await house(true);
  const usage = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  const openToRepair = bench.opening(bench.store, { usage });
  const run = (...args: string[]) => bench.run('rebuild', args, { openToRepair });
  const first = await run('--usage', '--zone', 'Europe/Berlin');
  expect([first.code, first.out]).toEqual([
    EXIT.ok,
    '2 job records looked at.\n2 were missing and are counted now.\n',
  ]);
  const again = await run('--usage', '--json');
  expect([again.code, JSON.parse(again.out)]).toMatchObject([EXIT.ok, { records: 2, changed: 0, failed: 0 }]);
  expect(usage.usage().size).toBeGreaterThan(0);
  expect(await shown(bench)).toBe(2_000_007);
});
