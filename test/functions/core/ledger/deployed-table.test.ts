import { expect, test } from 'vitest';
import { dynamoInstanceRegister, refuseForeignTable } from '../../../../functions/core/ledger/instances.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';

async function aTable(...names: readonly string[]) {
  const memory = new MemoryTable();
  const remember = (instance: string) =>
    dynamoInstanceRegister({ table: memory }).remember({ instance, openedAtMs: 0 });
  for (const name of names) await remember(name);
  const seen = { asked: 0, isSilent: false };
  const table: ItemTable = {
    tableName: 'books',
    send: async (name, operation) => {
      seen.asked += 1;
      if (seen.isSilent) throw new Error('throttled');
      return memory.send(name, operation);
    },
  };
  const handler = refuseForeignTable({ table, instance: 'gitlab.new.com' }, async () => 'done');
  return { seen, handler, remember };
}

test('a table without instances, or with ours, is accepted after one look', async () => {
  await expect((await aTable()).handler()).resolves.toBe('done');
  const { seen, handler } = await aTable('gitlab.other.com', 'gitlab.new.com');
  await Promise.all([handler(), handler()]);
  await handler();
  expect(seen.asked).toBe(1);
});

test('a renamed host is refused with both names and the remedy, until it is repaired', async () => {
  const { handler, remember } = await aTable('gitlab.old.com');
  await expect(handler()).rejects.toMatchObject({
    code: 'foreign_books',
    retryable: false,
    message: expect.stringMatching(
      /data of gitlab\.old\.com, and none of gitlab\.new\.com\. .*gitlab\.instance: 'gitlab\.old\.com' .*tollgate instance add gitlab\.new\.com/,
    ),
  });
  await remember('gitlab.new.com');
  await expect(handler()).resolves.toBe('done');
});

test('a table that does not answer refuses nothing, and is asked again', async () => {
  const { seen, handler } = await aTable('gitlab.old.com');
  seen.isSilent = true;
  // The first check may have got through before.
  await handler().catch(() => {});
  expect([await handler(), await handler()]).toEqual(['done', 'done']);
  seen.isSilent = false;
  await expect(handler()).rejects.toMatchObject({ code: 'foreign_books' });
});
