import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { dynamoSweepCheckpoints } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const tableName = 'sweep-marks';
const local = localTable(tableName);

test('marks come back as they were written, per instance, and are no part of the books', async () => {
  const instance = 'gitlab.example.com';
  const marks = dynamoSweepCheckpoints({ table: dynamoTable(local.client, tableName), instance });
  expect(await marks.read()).toBeUndefined();
  const written = {
    sinceMs: 5,
    runners: new Map([
      [7, { seenTo: 100, passMs: 7, deepMs: 5 }],
      [
        8,
        {
          seenTo: 0,
          passMs: 0,
          deepMs: 5,
          going: { startMs: 9, deep: true, top: 900, page: 'eyJpZCI6IjEifQ' },
        },
      ],
    ]),
    // In this order: the longest not asked about come first.
    open: new Map([
      [90, 1],
      [12, 2],
    ]),
  };
  await marks.write(written);
  expect(await marks.read()).toEqual(written);
  expect([...((await marks.read())?.open.keys() ?? [])]).toEqual([90, 12]);
  expect(
    await dynamoSweepCheckpoints({
      table: dynamoTable(local.client, tableName),
      instance: 'other.example.com',
    }).read(),
  ).toBeUndefined();
  const store = new DynamoStore({
    table: dynamoTable(local.client, tableName),
    instance,
    clock: systemClock,
    random: Math.random,
  });
  expect(await createLedger({ store }).rebuild({ repair: true })).toMatchObject({ records: 0, repaired: 0 });
});
