import { expect, test } from 'vitest';
import { inboxItem } from '../../../functions/core/ledger/inbox-item.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { truthText } from '../../../functions/core/truth/truth-text.ts';
import { consume, type TableStreamRecord } from '../../../functions/settle/consume.ts';
import { anAsk, claim } from '../../support/ledger/asks.ts';
import { books, INSTANCE, ranFor } from '../../support/ledger/truths.ts';

const keys = ledgerKeys(INSTANCE);

const inserted = (number: number, NewImage: Item, eventName = 'INSERT'): TableStreamRecord => ({
  eventName,
  dynamodb: { SequenceNumber: `${number}`, NewImage },
});

const item = (body: string, instance = INSTANCE): Item =>
  inboxItem({ id: body, body, receivedAtMs: 1_000, untilMs: 2_000 }, ledgerKeys(instance));

const arrived = (number: number, body = truthText(ranFor(number, 90))) => inserted(number, item(body));

const NONE_FAILED = { batchItemFailures: [] };

test('inbox items are settled; records, counters, changes and other instances’ items pass by', async () => {
  const house = books();
  await house.ledger.hold([anAsk(1, [claim('group/100', 600, 1_000)])], house.clock.monotonicMs() + 30_000);
  const Records: TableStreamRecord[] = [
    { eventName: 'INSERT', dynamodb: { SequenceNumber: '5' } },
    inserted(6, { pk: { S: `${INSTANCE}#job#1` }, sk: { S: 'record' }, b: { S: truthText(ranFor(2, 90)) } }),
    inserted(7, { pk: { S: `${INSTANCE}#job#1` }, sk: { S: 'inbox' }, b: { S: truthText(ranFor(2, 90)) } }),
    inserted(8, item(truthText(ranFor(2, 90)), 'gitlab.elsewhere.com')),
    inserted(9, item(truthText(ranFor(2, 90))), 'MODIFY'),
    { eventName: 'REMOVE', dynamodb: { SequenceNumber: '10' } },
    arrived(1),
  ];
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'SETTLED', durationSeconds: 90 });
  expect(await house.ledger.readRecord(2)).toBeUndefined();
  expect(house.lines).toEqual(['{"message":"job ends settled","applied":1}']);
});

test.each([
  '',
  '{',
  'null',
  '{"jobId":1}',
  '{"jobId":1.5,"projectId":2,"status":"success"}',
  '{"jobId":1,"projectId":2,"status":"done"}',
  '{"jobId":1,"projectId":2,"status":"success","durationSeconds":"9"}',
])('an item nobody can read is passed over and its neighbours are not: %j', async (poison) => {
  const house = books();
  const Records = [arrived(1), arrived(2, poison), arrived(3)];
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  expect(await house.charged(1)).toMatchObject({ micros: 150_000 });
  expect(await house.charged(3)).toMatchObject({ micros: 150_000 });
  expect(house.lines[0]).toBe('{"message":"inbox item unreadable, passed over","sequence":"2"}');
});

test('only ends the table gave no answer for are reported as failed, and come to the same when read again', async () => {
  let reads = 0;
  const house = books({
    // The first hundred jobs are read and written; the second call finds the table silent.
    fault: (operation) => {
      if (operation !== 'readRecords') return undefined;
      reads += 1;
      return reads === 2 ? { kind: 'lost-before' } : undefined;
    },
  });
  const Records = Array.from({ length: 103 }, (_, index) => arrived(index + 1));
  const { batchItemFailures } = await consume({ Records }, { ...house.deps, keys });
  expect(batchItemFailures).toEqual(['101', '102', '103'].map((itemIdentifier) => ({ itemIdentifier })));
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  const counters = [...house.store.dump()].flatMap((one) => (one.kind === 'counter' ? [one.counter] : []));
  expect(counters.find(({ key }) => key.subject === 'group/100')?.committed).toBe(103 * 150_000);
});

test('a batch without inbox items asks the table nothing', async () => {
  const house = books({
    fault: (operation) => {
      throw new Error(operation);
    },
  });
  expect(
    await consume(
      { Records: [inserted(1, { pk: { S: 'x' }, sk: { S: 'counter' } })] },
      { ...house.deps, keys },
    ),
  ).toEqual(NONE_FAILED);
});
