import { rmSync } from 'node:fs';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { LedgerClock } from '../../functions/core/environment/index.ts';
import {
  createLedger,
  DynamoStore,
  dynamoInstanceRegister,
  dynamoSweepMarks,
  type InboxStore,
  type KnownInstance,
  type Ledger,
  type LedgerStore,
  MemoryStore,
  type SweepMarkStore,
} from '../../functions/core/ledger/index.ts';
import { DynamoLimitTable, type LimitTable } from '../../functions/core/limits/index.ts';
import { dynamoSessionStore, type SessionStore } from '../../functions/core/signin/index.ts';
import {
  dynamoClient,
  dynamoTable,
  type LedgerKeys,
  ledgerKeys,
  MemoryTable,
} from '../../functions/core/store/index.ts';
import { DynamoRollupStore, MemoryRollupStore, type RollupStore } from '../../functions/core/usage/index.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';
import { UsageError } from '../terminal/command.ts';
import { ensureTable, javaAvailable, runningOn, startDynamoDbLocal } from './dynamodb-local.ts';
import { memoryStream } from './memory-stream.ts';
import { type NotifyingStore, notifyingStore, type WriteListener } from './notifying-store.ts';
import { newInTable } from './table-stream.ts';

/** A ledger for this machine, and what to tell people about where it keeps its numbers. */
export interface LocalLedger {
  readonly ledger: Ledger;
  readonly store: LedgerStore & InboxStore;
  readonly keys: LedgerKeys;
  /** The GitLab host that keys begin with. */
  readonly instance: string;
  readonly marks: SweepMarkStore;
  /** Sets of limits: `tollgate limits publish` writes one, whoever decides reads it. */
  readonly limits: LimitTable;
  /** What pages show of the past. Whoever counts is told by `onWritten`. */
  readonly usage: RollupStore;
  readonly sessions: SessionStore;
  /** From now on told of the jobs whose records were written, or perhaps were: to be read. */
  onWritten(listener: WriteListener): void;
  /** Resolves when no transaction is under way, at the latest after so long: for work that is in no hurry. */
  quiet: NotifyingStore['quiet'];
  /** The table's stream from now on: nothing written after this resolves is missed. Ends with the signal. */
  stream(signal: AbortSignal): Promise<AsyncIterable<readonly TableStreamRecord[]>>;
  readonly description: string;
  stop(): Promise<void>;
}

interface LedgerPlace {
  /**
   * The GitLab whose books are opened, by what the folder knows; it is remembered there.
   * @throws {UsageError} where they cannot be told.
   */
  readonly whose: (known: readonly KnownInstance[]) => Omit<KnownInstance, 'openedAtMs'>;
  readonly dataDir: string;
  readonly memory: boolean;
  readonly fresh: boolean;
  readonly clock: LedgerClock;
}

const TABLE = 'tollgate-local';
/** Between two looks at a silent stream. */
const STREAM_PAUSE_MS = 200;

/**
 * DynamoDB Local with its data in `dataDir`, or memory where there is no Java (or none is wanted).
 *
 * @throws {UsageError} when another program has that folder: two databases on it would spoil it, and one may not empty it.
 */
export async function openLocalLedger(place: LedgerPlace): Promise<LocalLedger> {
  if (place.memory) return inMemory(place, '--memory');
  return javaAvailable()
    ? inDynamoDbLocal(place)
    : inMemory(place, 'no Java found; with Java 8 or newer it is DynamoDB Local');
}

function inMemory({ whose, clock }: LedgerPlace, why: string): LocalLedger {
  const { instance } = whose([]);
  const keys = ledgerKeys(instance);
  const beside = { table: new MemoryTable(), instance, clock, random: Math.random };
  const stream = memoryStream(keys);
  const { store, onWritten, quiet } = notifyingStore(new MemoryStore({ instance, onReceived: stream.push }));
  return {
    ledger: createLedger({ store, clock }),
    store,
    onWritten,
    quiet,
    usage: new MemoryRollupStore({ instance }),
    sessions: dynamoSessionStore(beside),
    keys,
    instance,
    marks: dynamoSweepMarks(beside),
    limits: new DynamoLimitTable(beside),
    stream: async (signal) => stream.read(signal),
    description: `in memory, forgotten at the end (${why})`,
    stop: async () => {},
  };
}

async function inDynamoDbLocal({ whose, dataDir, fresh, clock }: LedgerPlace): Promise<LocalLedger> {
  const other = await runningOn(dataDir);
  if (other !== undefined) {
    throw new UsageError(
      `${dataDir} is in use (at ${other}): another npm start or npx tollgate runs here. Let it end first, or say --memory`,
    );
  }
  if (fresh) rmSync(dataDir, { recursive: true, force: true });
  const database = await startDynamoDbLocal({ dataDir });
  const client = dynamoClient(database.endpoint);
  const streams = new DynamoDBStreamsClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await ensureTable(client, TABLE);
  const instance = await rememberedName(client, whose).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  const table = { table: dynamoTable(client, TABLE), instance };
  const parts = { ...table, clock, random: Math.random };
  const { store, onWritten, quiet } = notifyingStore(new DynamoStore(parts));
  return {
    ledger: createLedger({ store, clock }),
    store,
    onWritten,
    quiet,
    usage: new DynamoRollupStore(parts),
    sessions: dynamoSessionStore(table),
    keys: ledgerKeys(instance),
    instance,
    marks: dynamoSweepMarks(table),
    limits: new DynamoLimitTable(parts),
    stream: (signal) =>
      newInTable({
        client: streams,
        tableName: TABLE,
        signal,
        pause: () => clock.sleep(STREAM_PAUSE_MS),
      }),
    description: `DynamoDB Local, kept in ${dataDir.split('/').at(-2)}/ (start over with --fresh)`,
    stop: async () => {
      client.destroy();
      streams.destroy();
      await database.stop();
    },
  };
}

async function rememberedName(client: DynamoDBClient, whose: LedgerPlace['whose']): Promise<string> {
  const register = dynamoInstanceRegister({ table: dynamoTable(client, TABLE) });
  const known = whose(await register.list());
  await register.remember({ ...known, openedAtMs: Date.now() });
  return known.instance;
}
