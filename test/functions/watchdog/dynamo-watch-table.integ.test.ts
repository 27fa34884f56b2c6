import { expect, test } from 'vitest';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { MemoryNotifier } from '../../../functions/core/notify/message.ts';
import { readRelayBeats } from '../../../functions/core/store/health-items.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { watch } from '../../../functions/watchdog/watch.ts';
import { dynamoWatchTable } from '../../../functions/watchdog/watch-table.ts';
import { heartbeatWriter } from '../../../relay/aws/aws-json.ts';
import { localTable } from '../../support/ledger/local-table.ts';
import { signedLocalFetch } from '../../support/relay/signed-local-fetch.ts';

const tableName = 'watchdog';
const local = localTable(tableName);

/** The heartbeat as the relay writes it: by hand, signed. */
const heartbeat = (instance: string, relayId: string, table = tableName) =>
  heartbeatWriter({
    fetch: signedLocalFetch(),
    endpoint: local.endpoint,
    table,
    instance,
    relayId,
  });

const watchTable = (instance: string, name = tableName) =>
  dynamoWatchTable({ table: dynamoTable(local.client, name), instance });

test('what relays write is read: the newest beat of the own instance, and every relay with its descriptors', async () => {
  const instance = 'beats.example.com';
  expect(await watchTable(instance).newestBeatMs()).toBeUndefined();
  const schema = { source: 'gitlab.binpb', hash: 'a1b2', standing: 'proven' };
  const placeholder = { schema: { source: 's', placeholder: true } };
  const more = { directoryAgeMs: 61_000, breaker: 'half_open' };
  await heartbeat(instance, 'relay-1')({ atMs: 3_000, openStreams: 8 });
  await heartbeat(instance, 'relay-2')({ atMs: 9_000, openStreams: 4, ...more });
  await heartbeat(instance, 'relay-1')({ atMs: 5_000, openStreams: 8, schema });
  await heartbeat(instance, 'relay-3')({ atMs: 1, openStreams: 0, ...placeholder });
  await heartbeat('other.example.com', 'relay-1')({ atMs: 99_000, openStreams: 8 });
  expect(await watchTable(instance).newestBeatMs()).toBe(9_000);
  expect(await readRelayBeats({ table: dynamoTable(local.client, tableName), instance })).toEqual([
    { relayId: 'relay-2', atMs: 9_000, openStreams: 4, ...more },
    { relayId: 'relay-1', atMs: 5_000, openStreams: 8, schema },
    { relayId: 'relay-3', atMs: 1, openStreams: 0, ...placeholder },
  ]);
});

test('a mark comes back as it was written, whole, and is no part of the ledger', async () => {
  const instance = 'mark.example.com';
  const table = watchTable(instance);
  expect(await table.readMark()).toBeUndefined();
  const disarmed = { heardAtMs: 5, yetFailedMs: 6 };
  for (const mark of [{ heardAtMs: 1, disarmedForMs: 2, pagedAtMs: 3 }, { heardAtMs: 4 }, disarmed]) {
    await table.writeMark(mark);
    expect(await table.readMark()).toEqual(mark);
  }
  const parts = { table: dynamoTable(local.client, tableName), clock: systemClock, random: Math.random };
  const ledger = createLedger({ store: new DynamoStore({ ...parts, instance }) });
  expect(await ledger.rebuild({ repair: true })).toMatchObject({ records: 0, repaired: 0 });
});

test('no table, no silence: both sides say so', async () => {
  const gone = watchTable('gitlab.example.com', 'no-such-table');
  await expect(gone.newestBeatMs()).rejects.toThrow(/\[ledger_unavailable\].*no-such-table/);
  const unwritten = heartbeat('gitlab.example.com', 'relay-1', 'no-such-table')({ atMs: 1, openStreams: 1 });
  await expect(unwritten).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('through a silence on the real table: heard, disarmed once, armed by hand with a relay, disarmed again', async () => {
  const instance = 'whole.example.com';
  let nowMs = 1_000_000;
  let state: ControllerState = 'enabled';
  const notify = new MemoryNotifier();
  const look = () =>
    watch({
      table: watchTable(instance),
      controller: {
        state: async () => state,
        disarm: async () => {
          state = 'dry_run';
        },
      },
      proveToken: async () => 'accepted',
      notify,
      clock: { nowMs: () => nowMs },
      log: silentLog,
      instance,
    });
  const beat = heartbeat(instance, 'relay-1');
  const minutes = (count: number): void => {
    nowMs += count * 60_000;
  };
  expect(await look()).toBe('never_heard');
  await beat({ atMs: nowMs, openStreams: 8 });
  expect(await look()).toBe('relay_heard');
  minutes(3);
  expect(await look()).toBe('disarmed');
  minutes(1);
  expect(await look()).toBe('not_armed');
  await beat({ atMs: nowMs, openStreams: 8 });
  state = 'enabled';
  expect(await look()).toBe('relay_heard');
  minutes(3);
  expect(await look()).toBe('disarmed');
  expect(notify.sent).toHaveLength(2);
});
