import { existsSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoClient } from '../../../functions/ledger/dynamo-client.ts';
import { DynamoStore } from '../../../functions/ledger/dynamo-store.ts';
import type { LedgerStore } from '../../../functions/ledger/store.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { javaAvailable, runningOn, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import type { DeskIo } from '../command.ts';
import { type LedgerFlags, type LedgerPlace, ledgerPlace } from './ledger-flags.ts';
import { readOnly } from './read-only-store.ts';

/** Somebody's books. */
export interface DeskLedger {
  readonly store: LedgerStore;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  /** The GitLab it is about, a host. */
  readonly instance: string;
  readonly close: () => Promise<void>;
}

export type OpenLedger = (flags: LedgerFlags, io: Pick<DeskIo, 'env' | 'root'>) => Promise<DeskLedger>;

/** What `npm start` calls its table. */
const LOCAL_TABLE = 'tollgate-local';
/** Nobody's job waits for the desk: the SDK may try again, and a laptop may be far away. */
const ATTEMPTS_MAX = 4;
const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 15_000;

/** What the books are opened for. */
interface Purpose {
  readonly right: (store: LedgerStore) => LedgerStore;
  readonly attemptsMax: number;
}

const TO_READ: Purpose = { right: readOnly, attemptsMax: ATTEMPTS_MAX };
/** A repair is a write: the ledger's own attempts repeat it under one token, so the SDK must not. */
const TO_REPAIR: Purpose = { right: (store) => store, attemptsMax: 1 };

/**
 * Opens the ledger that the flags name. Nothing is written, not even a table that is missing.
 *
 * @throws {UsageError} for flags that make no sense, {Error} with the remedy when there is no such ledger here.
 */
export const openDeskLedger: OpenLedger = (flags, io) => openFor(TO_READ, flags, io);

/** The ledger with the right to write, for `rebuild --repair` and `reconcile`. */
export const openToRepair: OpenLedger = (flags, io) => openFor(TO_REPAIR, flags, io);

async function openFor(
  { right, attemptsMax }: Purpose,
  flags: LedgerFlags,
  io: Pick<DeskIo, 'env' | 'root'>,
): Promise<DeskLedger> {
  const { client, tableName, instance, description, close } = await openDeskTable(flags, io, attemptsMax);
  return { store: right(storeOf(client, tableName, instance)), description, instance, close };
}

/** The table that somebody's books are in. */
export interface DeskTable extends Omit<DeskLedger, 'store'> {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** @param attemptsMax - how often the SDK may try; 1 for writes that are repeated by whoever makes them. */
export async function openDeskTable(
  flags: LedgerFlags,
  io: Pick<DeskIo, 'env' | 'root'>,
  attemptsMax: number,
): Promise<DeskTable> {
  const place = ledgerPlace(flags, io);
  return place.kind === 'local' ? openLocal(place.instance, io.root) : openTable(place, attemptsMax);
}

async function openLocal(instance: string, root: string): Promise<DeskTable> {
  const dataDir = `${root}.tollgate/dynamodb`;
  if (!existsSync(dataDir)) {
    throw new Error(
      `${dataDir} is not there: npm start makes it on its first run, or name a table with --ledger`,
    );
  }
  const opened = { tableName: LOCAL_TABLE, description: 'the ledger of npm start on this machine', instance };
  const running = await runningOn(dataDir);
  if (running !== undefined) {
    // Two databases on one folder lock each other out: the one of npm start serves both.
    const client = dynamoClient(running);
    return { ...opened, client, close: async () => client.destroy() };
  }
  if (!javaAvailable()) {
    throw new Error(
      'the local ledger is in DynamoDB Local, which needs Java 8 or newer, and "java -version" does not run',
    );
  }
  const database = await startDynamoDbLocal({ dataDir });
  const client = dynamoClient(database.endpoint);
  const close = async (): Promise<void> => {
    client.destroy();
    await database.stop();
  };
  return { ...opened, client, close };
}

async function openTable(
  place: Extract<LedgerPlace, { kind: 'table' }>,
  attemptsMax: number,
): Promise<DeskTable> {
  const client = tableClient(place, attemptsMax);
  const where = place.endpoint ?? place.region;
  return {
    client,
    tableName: place.tableName,
    description: `table ${place.tableName}${where === undefined ? '' : ` (${where})`}`,
    instance: place.instance,
    close: async () => client.destroy(),
  };
}

const storeOf = (client: DynamoDBClient, tableName: string, instance: string): LedgerStore =>
  new DynamoStore({ client, tableName, instance, clock: systemClock, random: Math.random });

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function tableClient(
  { region, endpoint }: Extract<LedgerPlace, { kind: 'table' }>,
  maxAttempts: number,
): DynamoDBClient {
  // DynamoDB Local asks for credentials and takes any.
  if (endpoint !== undefined && LOOPBACK.test(new URL(endpoint).hostname)) return dynamoClient(endpoint);
  return new DynamoDBClient({
    maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
  });
}
