import { expect, test } from 'vitest';
import { askedAhead } from '../../../../functions/core/store/asked-ahead.ts';
import { getItem, itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import type { Key } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type ItemTable, type Operations, TimeLimit } from '../../../../functions/core/store/operation.ts';
import { handClock } from '../../../../scripts/local/clock.ts';

const A: Key = { pk: 'a', sk: 'pointer' };
const B: Key = { pk: 'b', sk: 'pointer' };
const limit = new TimeLimit(1_000);

async function aStart(failing: { send: boolean } = { send: false }) {
  const kept = new MemoryTable();
  await putItem(kept, itemAt(A, { n: { N: '1' } }), limit);
  const sent: string[] = [];
  const table: ItemTable = {
    tableName: 'counted',
    send: async (name, operation) => {
      sent.push(name);
      if (failing.send) throw new Error('throttled');
      return kept.send(name, operation as Operations[typeof name]);
    },
  };
  return {
    kept,
    sent,
    table: askedAhead({ table, clock: handClock(), random: () => 0 }, [A, B]),
  };
}

test('what a start looks for is asked at once and in one call, and taken once', async () => {
  const { kept, sent, table } = await aStart();
  expect(sent).toEqual(['BatchGetItem']);
  const [a, b] = await Promise.all([getItem(table, A, limit), getItem(table, B, limit)]);
  expect([a?.n, b]).toEqual([{ N: '1' }, undefined]);
  expect(sent).toEqual(['BatchGetItem']);
  await putItem(kept, itemAt(A, { n: { N: '2' } }), limit);
  expect((await getItem(table, A, limit))?.n).toEqual({ N: '2' });
  expect(sent).toEqual(['BatchGetItem', 'GetItem']);
});

test('where it failed, whoever wants an item asks for itself', async () => {
  const failing = { send: true };
  const { sent, table } = await aStart(failing);
  failing.send = false;
  expect((await getItem(table, A, limit))?.n).toEqual({ N: '1' });
  expect(sent).toEqual(['BatchGetItem', 'GetItem']);
});
