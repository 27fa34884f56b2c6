import { expect, test } from 'vitest';
import { dynamoPriceLists } from '../../../../functions/core/statements/price-lists.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';

const INSTANCE = 'gitlab.example.com';

const edition = (rate: string, policyVersion = 'p1') => ({
  policyVersion,
  text: JSON.stringify({ currency: 'EUR', prices: { classes: [{ name: 'small', rate_per_minute: rate }] } }),
});

test('prices that count already are not written again, whatever else of the policy changed', async () => {
  const memory = new MemoryTable();
  let puts = 0;
  const table: ItemTable = {
    tableName: 'counted',
    send: (name, operation) => {
      if (name === 'PutItem') puts += 1;
      return memory.send(name, operation);
    },
  };
  const prices = dynamoPriceLists({ table, instance: INSTANCE });
  expect(await prices.noteInForce(edition('0.10'), 1)).toBe('noted');
  const first = puts;
  for (let run = 2; run < 100; run += 1)
    expect(await prices.noteInForce(edition('0.10', `p${run}`), run)).toBe('known');
  expect({ first, more: puts - first }).toEqual({ first: 2, more: 0 });
});

test('what is longer than an item is kept in parts and read whole; what is longer than all of them is refused whole', async () => {
  const prices = dynamoPriceLists({ table: new MemoryTable(), instance: INSTANCE }, 20);
  const { text } = edition('0.10');
  await prices.noteInForce({ policyVersion: 'p1', text }, 1);
  const [first] = await prices.changes();
  expect(await prices.text(first?.change.editionSha256 ?? '')).toBe(text);
  const long = Array.from({ length: 400 }, (_, index) => `${(index * 7919) % 1009}`).join(' ');
  await expect(prices.noteInForce({ policyVersion: 'p2', text: long }, 2)).rejects.toThrow(
    'expected at most 400',
  );
  expect(await prices.changes()).toHaveLength(1);
});

test('two programs that see other prices at once leave one chain', async () => {
  const table = new MemoryTable();
  const one = dynamoPriceLists({ table, instance: INSTANCE });
  const other = dynamoPriceLists({ table, instance: INSTANCE });
  await one.noteInForce(edition('0.10'), 1);
  await Promise.all([one.noteInForce(edition('0.20'), 2), other.noteInForce(edition('0.30'), 2)]);
  const changes = await one.changes();
  expect(changes.map(({ change }) => change.number)).toEqual([1, 2]);
  expect(changes[1]?.change.previousSha256).toBe(changes[0]?.sha256);
});

test('an edition of which a part is missing is none', async () => {
  const table = new MemoryTable();
  const prices = dynamoPriceLists({ table, instance: INSTANCE }, 20);
  await prices.noteInForce(edition('0.10'), 1);
  const sha256 = (await prices.changes())[0]?.change.editionSha256 ?? '';
  await table.send('DeleteItem', { key: { pk: `${INSTANCE}@statements#prices#${sha256}`, sk: '001' } });
  expect(await prices.text(sha256)).toBeUndefined();
});
