import { expect, test } from 'vitest';
import { readRelayHeartbeats } from '../../../functions/core/store/health-items.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { dynamoWatchTable } from '../../../functions/watchdog/watch.ts';
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
  expect(await watchTable(instance).newestHeartbeatMs()).toBeUndefined();
  const schema = { source: 'gitlab.binpb', hash: 'a1b2', state: 'proven' };
  const placeholder = { schema: { source: 's', placeholder: true } };
  const more = { directoryAgeMs: 61_000, breaker: 'half_open' };
  await heartbeat(instance, 'relay-1')({ atMs: 3_000, openStreams: 8 });
  await heartbeat(instance, 'relay-2')({ atMs: 9_000, openStreams: 4, ...more });
  await heartbeat(instance, 'relay-1')({ atMs: 5_000, openStreams: 8, schema });
  await heartbeat(instance, 'relay-3')({ atMs: 1, openStreams: 0, ...placeholder });
  await heartbeat('other.example.com', 'relay-1')({ atMs: 99_000, openStreams: 8 });
  expect(await watchTable(instance).newestHeartbeatMs()).toBe(9_000);
  expect(await readRelayHeartbeats({ table: dynamoTable(local.client, tableName), instance })).toEqual([
    { relayId: 'relay-2', atMs: 9_000, openStreams: 4, ...more },
    { relayId: 'relay-1', atMs: 5_000, openStreams: 8, schema },
    { relayId: 'relay-3', atMs: 1, openStreams: 0, ...placeholder },
  ]);
});
