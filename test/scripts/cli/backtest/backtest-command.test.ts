import { expect, test } from 'vitest';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { storeWith } from '../../../../scripts/cli/open-ledger.ts';
import type { BacktestResult } from '../../../../scripts/cli/report/shadow.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const limit = (money: number): object => ({ on: { group: 101 }, money, per: 'month' });

/** A budget for two of three jobs; each holds 1.00, and the first two turn out to cost 0.10. One of another group. */
async function house() {
  const bench = ledgerBench({ limits: [limit(2)] });
  for (const jobId of [1, 2, 3]) {
    await bench.ask([aRequest(jobId)]);
    bench.clock.advance(1_000);
  }
  await bench.ask([aRequest(4, { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' })]);
  bench.clock.advance(60_000);
  for (const jobId of [1, 2, 4])
    await bench.ledger.settle([{ jobId, durationSeconds: 60, endedAtMs: bench.clock.nowMs() }]);
  bench.clock.advance(60_000);
  return bench;
}
type House = Awaited<ReturnType<typeof house>>;

async function run(bench: House, args: string[] = [], store?: LedgerStore) {
  const before = JSON.stringify([...bench.store.dump()]);
  const told = await bench.run('backtest', args, { store });
  expect(JSON.stringify([...bench.store.dump()])).toBe(before);
  return told;
}
const jsonOf = async (bench: House, args: string[] = [], store?: LedgerStore): Promise<BacktestResult> =>
  JSON.parse((await run(bench, ['--json', ...args], store)).out);

test('a lowered limit names group, rule, limit and jobs, and what it saves', async () => {
  const bench = await house();
  bench.documents({}, [limit(1)]);
  const found = await jsonOf(bench);
  expect(found).toMatchObject({ rejectedThen: 1, rejectedNow: 2, newlyRejected: 1, nowMicros: 200_000 });
  expect(found.rejections).toEqual([
    {
      groupId: 101,
      projectPath: 'acme/payments/checkout',
      rule: 'budgets',
      limit: 'group/101 money-month',
      code: 'BUDGET_EXHAUSTED',
      jobs: 2,
      newly: 1,
      examples: [2],
    },
  ]);
  expect(found.groups.map(({ groupId, jobs, rejectedNow }) => [groupId, jobs, rejectedNow])).toEqual([
    [101, 3, 2],
    [102, 1, 0],
  ]);
});

test('jobs whose question was not kept are asked by their facts, in their own runner class, and counted', async () => {
  const bench = await house();
  const forgot = <Record extends { facts: object }>(record: Record): Record => {
    const { asked: _, ...facts } = record.facts as { asked?: object };
    return { ...record, facts: { ...facts, runnerClass: 'large' } };
  };
  const old = storeWith<LedgerStore>(bench.store, {
    readRecords: async (jobIds, options) =>
      (await bench.store.readRecords(jobIds, options)).map((record) => record && forgot(record)),
  });
  const images = { id: 'images', kind: 'image', mode: 'enforce', on_missing: 'reject', allow: ['alpine:*'] };
  bench.documents({ rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }, images] }, [limit(20)]);
  const found = await jsonOf(bench, [], old);
  // Six times the price: that is the large class. The image is not known, which is not held against them.
  expect(found).toMatchObject({ jobs: 4, unrecorded: 4, rejectedNow: 0, nowMicros: 1_800_000 + 6_000_000 });
  expect(found.notes[0]).toMatch(/judged without image.*: 4\.$/);
});

test('for people', async () => {
  const bench = await house();
  bench.documents({}, [limit(1)]);
  const { out, code } = await run(bench);
  expect(code).toBe(EXIT.ok);
  expect(out).toContain('2 of 4 jobs would be rejected; 1 were.');
  expect(out).toContain('Cost 0.20 EUR instead of 0.30 EUR.');
  expect(out).toMatch(/acme\/payments +budgets +acme\/payments money-month +BUDGET_EXHAUSTED +2 +1 +2\n/);
});
