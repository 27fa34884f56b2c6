import { rmSync } from 'node:fs';
import { createLedger } from '../../functions/ledger/create-ledger.ts';
import { dynamoClient } from '../../functions/ledger/dynamo-client.ts';
import { DynamoStore } from '../../functions/ledger/dynamo-store.ts';
import type { Ledger } from '../../functions/ledger/ledger.ts';
import { MemoryStore } from '../../functions/ledger/memory-store.ts';
import type { LedgerStore } from '../../functions/ledger/store.ts';
import { systemClock } from '../../functions/ledger/system-clock.ts';
import { ensureTable, javaAvailable, startDynamoDbLocal } from './dynamodb-local.ts';

/** A ledger for this machine, and what to tell people about where it keeps its numbers. */
export interface LocalLedger {
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly description: string;
  stop(): Promise<void>;
}

const TABLE = 'tollgate-local';

/** DynamoDB Local with its data in `dataDir`, or memory where there is no Java (or none is wanted). */
export async function openLocalLedger(options: {
  readonly instance: string;
  readonly dataDir: string;
  readonly memory: boolean;
  readonly fresh: boolean;
}): Promise<LocalLedger> {
  const { instance, dataDir } = options;
  const java = !options.memory && javaAvailable();
  if (!java) {
    const store = new MemoryStore({ instance });
    return {
      ledger: createLedger({ store }),
      store,
      description: options.memory
        ? 'in memory, forgotten at the end (--memory)'
        : 'in memory, forgotten at the end: no Java found; with Java 8 or newer it is DynamoDB Local',
      stop: async () => {},
    };
  }
  if (options.fresh) rmSync(dataDir, { recursive: true, force: true });
  const database = await startDynamoDbLocal({ dataDir });
  const client = dynamoClient(database.endpoint);
  await ensureTable(client, TABLE);
  const store = new DynamoStore({
    client,
    tableName: TABLE,
    instance,
    clock: systemClock,
    random: Math.random,
  });
  return {
    ledger: createLedger({ store }),
    store,
    description: `DynamoDB Local, kept in ${dataDir.split('/').at(-2)}/ (start over with --fresh)`,
    stop: async () => {
      client.destroy();
      await database.stop();
    },
  };
}
