import { expect, test } from 'vitest';
import { dynamoStatementChain } from '../../../../functions/core/statements/closed-statement.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../../functions/core/store/operation.ts';
import { closeMonths } from '../../../support/statements/closed-months.ts';
import { ledgerBench } from '../ledger-bench.ts';
import { focusProblems, readCsv } from './focus-rules.ts';

/** Three months of payments and one of everything. */
async function bench() {
  const house = ledgerBench({});
  const table = new MemoryTable();
  const chain = dynamoStatementChain({ table, instance: 'gitlab.example.com' });
  await closeMonths(chain, 'group/101', ['2026-08', '2026-09', '2026-10']);
  await closeMonths(chain, 'instance', ['2026-10']);
  const run = (what: 'verify' | 'closed', ...args: string[]) =>
    house.run(`statement ${what}`, args, { beside: { chain } });
  const remove = async (pkEnd: string, sk: string): Promise<void> => {
    for (const key of table.items().map(keyOf))
      if (key.pk.endsWith(pkEnd) && key.sk.endsWith(sk)) await table.send('DeleteItem', { key });
  };
  const change = async (month: string): Promise<void> => {
    for (const item of table.items())
      if (keyOf(item).pk.endsWith('#of#group/101') && keyOf(item).sk === month) {
        const text = { S: (item.tx?.S ?? '').replaceAll('7000000', '8000000') };
        await table.send('PutItem', { kind: 'put', item: { ...item, tx: text } });
      }
  };
  return { run, remove, change, chain };
}

test('months that are as they were written verify, a group alone and all of them', async () => {
  const { run } = await bench();
  expect(await run('verify')).toEqual({
    code: 0,
    out: '4 closed months are as they were written.\n',
    err: '',
  });
  const { code, out } = await run('verify', '--group', 'acme/payments', '--json');
  expect([code, JSON.parse(out)]).toEqual([0, { checked: 3 }]);
});

test('a text that was changed is found, and the first one is named', async () => {
  const { run, change } = await bench();
  await change('2026-09');
  await change('2026-10');
  for (const args of [[], ['--group', '101']]) {
    const { code, out } = await run('verify', '--json', ...args);
    expect([code, JSON.parse(out).broken]).toMatchObject([2, { number: 2, month: '2026-09' }]);
  }
});

test.each([
  ['a statement that is gone', '#of#group/101', '2026-08', 1],
  ['the last one of a group, which no other follows', '#of#instance', '2026-10', 4],
  ['a number that is gone', '#number#0', '0000000003', 3],
  ['the last number', '#number#0', '0000000004', 4],
])('%s is found by its number', async (_, pkEnd, sk, number) => {
  const { run, remove } = await bench();
  await remove(pkEnd, sk);
  const { code, out } = await run('verify', '--json');
  expect([code, JSON.parse(out).broken.number]).toEqual([2, number]);
});

test('a closed month is told with its rows, which add up to what is due', async () => {
  const { run } = await bench();
  const text = await run('closed', '--month', '2026-09', '--group', 'acme/payments');
  expect(text.code).toBe(0);
  expect(text.out).toContain('Statement 2, acme/payments, 2026-09 (UTC): 7.03 EUR');
  const csv = (await run('closed', '--month', '2026-09', '--group', '101', '--format', 'csv')).out;
  const costs = csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => Number(/(-?[\d]+\.\d{6}),EUR/.exec(row)?.[1]));
  expect(costs.reduce((sum, each) => sum + each, 0)).toBeCloseTo(7.03, 6);
  await expect(run('closed', '--month', '2026-11', '--group', '101')).rejects.toThrow(
    '--month "2026-11": was not closed for 101; closed months: 2026-08, 2026-09, 2026-10',
  );
});

test('a closed month is a FOCUS dataset: usage, what nobody knows the end of, and corrections, with its number as invoice', async () => {
  const { run } = await bench();
  const { out } = await run('closed', '--month', '2026-09', '--group', '101', '--format', 'focus');
  expect(focusProblems(out)).toEqual([]);
  const { rows } = readCsv(out);
  const total = rows.reduce((sum, row) => sum + Math.round(Number(row.BilledCost) * 1e6), 0);
  expect(total).toBe(7_030_000);
  expect(rows.map((row) => [row.ChargeCategory, row.ChargeClass, row.InvoiceId])).toEqual([
    ['Usage', '', '2'],
    ['Adjustment', '', '2'],
    ['Usage', 'Correction', '2'],
  ]);
});
