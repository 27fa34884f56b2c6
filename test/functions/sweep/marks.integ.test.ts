import { expect, test } from 'vitest';
import { createLedger } from '../../../functions/ledger/create-ledger.ts';
import { dynamoMarks } from '../../../functions/ledger/dynamo-marks.ts';
import { DynamoStore } from '../../../functions/ledger/dynamo-store.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const tableName = 'sweep-marks';
const local = localTable(tableName);

test('marks come back as they were written, per instance, and are no part of the books', async () => {
  const instance = 'gitlab.example.com';
  const marks = dynamoMarks({ client: local.client, tableName, instance });
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
    await dynamoMarks({ client: local.client, tableName, instance: 'other.example.com' }).read(),
  ).toBeUndefined();
  const store = new DynamoStore({
    client: local.client,
    tableName,
    instance,
    clock: systemClock,
    random: Math.random,
  });
  expect(await createLedger({ store }).rebuild({ repair: true })).toMatchObject({ records: 0, repaired: 0 });
});

test('a table that does not answer is a failure of the ledger that names it', async () => {
  const gone = dynamoMarks({
    client: local.client,
    tableName: 'no-such-table',
    instance: 'gitlab.example.com',
  });
  await expect(gone.read()).rejects.toThrow(/\[ledger_unavailable\].*no-such-table/);
  await expect(gone.write({ sinceMs: 1, runners: new Map(), open: new Map() })).rejects.toThrow(
    /no-such-table/,
  );
});
