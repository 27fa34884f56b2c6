import { expect, test } from 'vitest';
import { inboxItem } from '../../../functions/core/ledger/items.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { consume, type TableStreamRecord } from '../../../functions/settle/consume.ts';
import { anAsk, claim, someFacts } from '../../support/ledger/asks.ts';
import { books, hintOf, INSTANCE, ranFor, STARTED_MS } from '../../support/ledger/gitlab-jobs.ts';

const keys = ledgerKeys(INSTANCE);

const inserted = (number: number, NewImage: Item, eventName = 'INSERT'): TableStreamRecord => ({
  eventName,
  dynamodb: { SequenceNumber: `${number}`, NewImage },
});

const item = (body: string, instance = INSTANCE): Item =>
  inboxItem({ id: body, body, receivedAtMs: 1_000, untilMs: 2_000 }, ledgerKeys(instance));

const arrived = (number: number, body = hintOf(ranFor(number, 90))) => inserted(number, item(body));

/** An hour ago, so that its job can have run. */
async function hold({ ledger, clock }: ReturnType<typeof books>, jobIds: readonly number[]): Promise<void> {
  const facts = someFacts({ rootId: 100 });
  const asks = jobIds.map((jobId) => ({
    ...anAsk(jobId, [claim('group/100', 600)], { facts }),
    decidedAtMs: STARTED_MS,
  }));
  await ledger.hold(asks, clock.monotonicMs() + 30_000);
}

const NONE_FAILED = { batchItemFailures: [] };

test('inbox items are settled; records, counters, changes and other instances’ items pass by', async () => {
  const house = books();
  await hold(house, [1]);
  const Records: TableStreamRecord[] = [
    { eventName: 'INSERT', dynamodb: { SequenceNumber: '5' } },
    inserted(6, { pk: { S: `${INSTANCE}#job#1` }, sk: { S: 'record' }, b: { S: hintOf(ranFor(2, 90)) } }),
    inserted(7, { pk: { S: `${INSTANCE}#job#1` }, sk: { S: 'inbox' }, b: { S: hintOf(ranFor(2, 90)) } }),
    inserted(8, item(hintOf(ranFor(2, 90)), 'gitlab.elsewhere.com')),
    inserted(9, item(hintOf(ranFor(2, 90))), 'MODIFY'),
    { eventName: 'REMOVE', dynamodb: { SequenceNumber: '10' } },
    arrived(1),
  ];
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'SETTLED', durationSeconds: 90 });
  expect(await house.ledger.readRecord(2)).toBeUndefined();
  expect(house.lines).toEqual(['{"message":"reported ends applied","applied":1}']);
});

test.each([
  '',
  '{',
  'null',
  '{"groupId":100,"jobId":1}',
  // As it was written before webhooks had a group.
  '{"jobId":2,"projectId":2,"status":"success"}',
  '{"groupId":100,"jobId":1.5,"projectId":2,"status":"success"}',
  '{"groupId":100,"jobId":1,"projectId":2,"status":"done"}',
])('an item nobody can read is passed over and its neighbours are not: %j', async (poison) => {
  const house = books();
  await hold(house, [1, 3]);
  const Records = [arrived(1), arrived(2, poison), arrived(3)];
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  expect(await house.charged(1)).toMatchObject({ micros: 90 });
  expect(await house.charged(3)).toMatchObject({ micros: 90 });
  expect(house.lines[0]).toBe('{"message":"inbox item unreadable, passed over","sequence":"2"}');
});

test('only ends the table gave no answer for are reported as failed, and come to the same when read again', async () => {
  let reads = Number.NEGATIVE_INFINITY;
  const house = books({
    // The first hundred jobs are read and written; the second call finds the table silent.
    fault: (operation) => {
      if (operation !== 'readRecords') return undefined;
      reads += 1;
      return reads === 2 ? { kind: 'lost-before' } : undefined;
    },
  });
  const jobIds = Array.from({ length: 103 }, (_, index) => index + 1);
  await hold(house, jobIds);
  reads = 0;
  const Records = jobIds.map((jobId) => arrived(jobId));
  const { batchItemFailures } = await consume({ Records }, { ...house.deps, keys });
  expect(batchItemFailures).toEqual(['101', '102', '103'].map((itemIdentifier) => ({ itemIdentifier })));
  expect(await consume({ Records }, { ...house.deps, keys })).toEqual(NONE_FAILED);
  const counters = [...house.store.dump()].flatMap((one) => (one.kind === 'counter' ? [one.counter] : []));
  expect(counters.find(({ key }) => key.subject === 'group/100')?.committed).toBe(103 * 90);
});
