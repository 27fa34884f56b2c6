import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { dynamoSweepMarks, type RunnerMark } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const tableName = 'sweep-marks';
const local = localTable(tableName);

test('marks come back as they were written, per instance, and are no part of the books', async () => {
  const instance = 'gitlab.example.com';
  const marks = dynamoSweepMarks({ table: dynamoTable(local.client, tableName), instance });
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
    await dynamoSweepMarks({
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

test('twenty thousand runners fit, and only blocks that changed are written again', async () => {
  let puts = 0;
  local.client.middlewareStack.add(
    (next, context) => (args) => {
      if (context.commandName === 'PutItemCommand') puts += 1;
      return next(args);
    },
    { step: 'initialize', name: 'countPuts', override: true },
  );
  const marks = dynamoSweepMarks({
    table: dynamoTable(local.client, tableName),
    instance: 'large.example.com',
  });
  const mark = { seenTo: 1_234_567_890_123, passMs: 1_795_000_000_000, deepMs: 1_795_000_000_000 };
  const going = { startMs: mark.passMs, deep: true, top: mark.seenTo, page: 'x'.repeat(100) };
  const runners = new Map<number, RunnerMark>(
    Array.from({ length: 20_000 }, (_, index) => [2 * index, { ...mark, going }]),
  );
  await marks.write({ sinceMs: 5, runners, open: new Map() });
  const read = await marks.read();
  expect(read?.runners.size).toBe(20_000);
  expect(read?.runners.get(39_998)).toEqual({ ...mark, going });
  puts = 0;
  await marks.write({ sinceMs: 5, runners: new Map([...runners, [8, mark]]), open: new Map() });
  // The block of the runner and the head.
  expect(puts).toBe(2);
  expect((await marks.read())?.runners.get(8)).toEqual(mark);
});
