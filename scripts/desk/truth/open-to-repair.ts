import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoClient } from '../../../functions/ledger/dynamo-client.ts';
import { DynamoStore } from '../../../functions/ledger/dynamo-store.ts';
import type { LedgerStore } from '../../../functions/ledger/store.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { ledgerPlace } from '../ledger/ledger-flags.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';

const LOCAL_TABLE = 'tollgate-local';
/** A repair is a write: the ledger's own attempts repeat it under one token, so the SDK must not. */
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * The ledger with the right to write, for `rebuild --repair` alone. Only after `openDeskLedger` has opened the same
 * flags: what is missing was told there.
 */
export const openToRepair: OpenLedger = async (flags, io) => {
  const place = ledgerPlace(flags, io);
  const { instance } = place;
  const storeOn = (client: DynamoDBClient, tableName: string): LedgerStore =>
    new DynamoStore({ client, tableName, instance, clock: systemClock, random: Math.random });
  if (place.kind === 'local') {
    const database = await startDynamoDbLocal({ dataDir: `${io.root}.tollgate/dynamodb` });
    const client = dynamoClient(database.endpoint);
    const close = async (): Promise<void> => {
      client.destroy();
      await database.stop();
    };
    return { store: storeOn(client, LOCAL_TABLE), description: 'the local ledger', instance, close };
  }
  const { region, endpoint, tableName } = place;
  // DynamoDB Local asks for credentials and takes any.
  const client = isHere(endpoint)
    ? dynamoClient(endpoint)
    : new DynamoDBClient({
        maxAttempts: 1,
        requestHandler: { requestTimeout: REQUEST_TIMEOUT_MS, throwOnRequestTimeout: true },
        ...(region !== undefined && { region }),
        ...(endpoint !== undefined && { endpoint }),
      });
  return {
    store: storeOn(client, tableName),
    description: `table ${tableName}`,
    instance,
    close: async () => client.destroy(),
  };
};

const isHere = (endpoint: string | undefined): boolean =>
  endpoint !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(endpoint).hostname);
