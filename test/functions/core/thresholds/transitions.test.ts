import { expect, test } from 'vitest';
import { encodeCounter } from '../../../../functions/core/ledger/item.ts';
import { CLOSING_SK, ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { type StreamRecord, transitionsOf } from '../../../../functions/core/thresholds/transitions.ts';
import { counter, pipeline } from '../../../support/ledger/asks.ts';
import { aCounter } from './limits.ts';

const keys = ledgerKeys('gitlab.example.com');
const item = (settled: number, committed: number, key = counter('group/1')) =>
  encodeCounter(aCounter(settled, committed, key), keys);

const changed = (OldImage: StreamRecord['dynamodb'], NewImage: StreamRecord['dynamodb']): StreamRecord => ({
  dynamodb: { ...OldImage, ...NewImage },
});

test('a changed counter is a step from its old image to its new one', () => {
  const record = changed({ OldImage: item(0, 10) }, { NewImage: item(5, 12) });
  expect(transitionsOf([record], keys)).toEqual([{ before: aCounter(0, 10), after: aCounter(5, 12) }]);
});

test('a new counter has no before', () => {
  expect(transitionsOf([{ dynamodb: { NewImage: item(0, 10) } }], keys)).toEqual([
    { after: aCounter(0, 10) },
  ]);
});

test('spent may rise while committed falls', () => {
  const record = changed({ OldImage: item(0, 10) }, { NewImage: item(5, 5) });
  expect(transitionsOf([record], keys)).toHaveLength(1);
});

test.each([
  ['a counter that only fell', changed({ OldImage: item(5, 10) }, { NewImage: item(5, 9) })],
  ['a counter that was collected', { dynamodb: { OldImage: item(5, 10) } }],
  ['a pipeline', { dynamodb: { NewImage: item(0, 1, pipeline(5000)) } }],
  [
    'another instance of the table',
    { dynamodb: { NewImage: encodeCounter(aCounter(0, 10), ledgerKeys('other.example.com')) } },
  ],
  ['a closing entry', { dynamodb: { NewImage: { ...item(9, 9), sk: { S: CLOSING_SK } } } }],
  [
    'anything else of the table',
    { dynamodb: { NewImage: { pk: { S: 'gitlab.example.com#x' }, sk: { S: 'x' } } } },
  ],
  ['a record without images', {}],
])('%s is passed over', (_, record: StreamRecord) => {
  expect(transitionsOf([record], keys)).toEqual([]);
});
