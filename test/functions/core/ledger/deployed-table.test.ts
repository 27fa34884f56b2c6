import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { type KnownInstance, onOwnBooks, ownBooks } from '../../../../functions/core/ledger/instances.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';

function aTable(...names: readonly string[]) {
  const table = { names: [...names], asked: 0 };
  const check = (instance: string) =>
    ownBooks(async (): Promise<readonly KnownInstance[]> => {
      table.asked += 1;
      return table.names.map((each) => ({ instance: each, openedAtMs: 0 }));
    }, instance);
  return { table, check };
}

test('a table that knows nobody is anybody’s, and one that knows us is ours', async () => {
  await expect(aTable().check('gitlab.new.com')()).resolves.toBeUndefined();
  const { table, check } = aTable('gitlab.other.com', 'gitlab.new.com');
  const ours = check('gitlab.new.com');
  await Promise.all([ours(), ours()]);
  await ours();
  expect(table.asked).toBe(1);
});

test('a host that was renamed is refused, with both names and what to do', async () => {
  const { check } = aTable('gitlab.old.com');
  await expect(check('gitlab.new.com')()).rejects.toMatchObject({
    code: 'foreign_books',
    retryable: false,
    message: expect.stringMatching(
      /books of gitlab\.old\.com, and none of gitlab\.new\.com\. .*gitlab\.instance: 'gitlab\.old\.com' .*tollgate instance add gitlab\.new\.com/,
    ),
  });
});

test('once it is mended, the same process goes on', async () => {
  const { table, check } = aTable('gitlab.old.com');
  const ours = check('gitlab.new.com');
  await expect(ours()).rejects.toThrow('[foreign_books]');
  table.names.push('gitlab.new.com');
  await expect(ours()).resolves.toBeUndefined();
});

test('a table that does not answer refuses nobody, and is asked again', async () => {
  let asked = 0;
  let answer: () => Promise<unknown> = () => Promise.reject(new Error('throttled'));
  const client = {
    send: () => {
      asked += 1;
      return answer();
    },
  } as unknown as DynamoDBClient;
  const handler = onOwnBooks(
    { table: dynamoTable(client, 'books'), instance: 'gitlab.new.com' },
    async () => 'done',
  );
  expect([await handler(), await handler()]).toEqual(['done', 'done']);
  const before = asked;
  answer = async () => ({ Items: [{ sk: { S: 'gitlab.old.com' } }] });
  await expect(handler()).rejects.toMatchObject({ code: 'foreign_books' });
  // Its own item, which is not there, and then all.
  expect(asked).toBe(before + 2);
});
