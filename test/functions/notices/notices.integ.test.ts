import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/limit-table.ts';
import { MemoryNotifier } from '../../../functions/core/notify/message.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { dynamoCursorStore } from '../../../functions/notices/run.ts';
import { sendNotices } from '../../../functions/notices/send-notices.ts';
import { aPolicy } from '../../policies/documents.ts';
import { localTable } from '../../support/ledger/local-table.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { memoryAlertRecords } from '../../support/tables/memory-alert-records.ts';
import { DIRECTORY } from '../console/house.ts';
import { aDesk } from '../core/limits/desk.ts';
import { CONSOLE_URL, OWNED } from './harness.ts';

const TABLE = 'notices';
const local = localTable(TABLE);

test('a run without events is four reads and no write', async () => {
  const clock = manualClock();
  const { client } = local;
  const options = {
    table: dynamoTable(client, TABLE),
    instance: 'a.example.com',
    clock,
    random: Math.random,
  };
  const limitTable = new DynamoLimitTable(options);
  const notify = new MemoryNotifier();
  const policy = aPolicy();
  const deps = {
    cursors: dynamoCursorStore(options),
    limitTable,
    policy,
    packed: { version: 'packed', bySubject: new Map(), rollouts: new Map(), personalDefault: [] },
    directory: async () => DIRECTORY,
    ledger: createLedger({ store: new DynamoStore(options), clock }),
    usage: new DynamoRollupStore(options),
    ...{ notify, clock, zone: 'UTC', consoleUrl: CONSOLE_URL, log: silentLog },
    alerts: memoryAlertRecords(clock),
  };
  const { limitEdits, by } = aDesk({ table: limitTable, policy, directory: deps.directory });
  expect(await limitEdits.apply(OWNED, await by())).toMatchObject({ outcome: 'live' });
  await sendNotices(deps);
  const calls: (string | undefined)[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(context.commandName);
      return next(args);
    },
    { step: 'initialize' },
  );
  clock.advance(15 * 60_000);
  await sendNotices(deps);
  expect(calls.toSorted()).toEqual([
    'BatchGetItemCommand',
    'GetItemCommand',
    'GetItemCommand',
    'QueryCommand',
  ]);
  expect(notify.sent).toEqual([]);
});
