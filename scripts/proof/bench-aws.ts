/** `npm run bench:aws`: contention, latency and write units on a real table. See USAGE. */
import { parseArgs } from 'node:util';
import { DeleteTableCommand, type DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoClient, dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { systemRelayClock } from '../../relay/relay.ts';
import { ensureTable } from '../local/dynamodb-local.ts';
import { quantile } from '../local/random.ts';
import { runProgram } from '../terminal/program.ts';
import { countingStore } from './bench/counting-store.ts';
import { closedLoop, sides } from './bench/load.ts';

const USAGE = `npm run bench:aws -- --yes

Creates the table "tollgate-bench-…" in the account and region of your AWS settings, runs one transaction per job, group
commit with one relay and with two relays against one hot group for 20 s each with 64 jobs in flight, and deletes the table.
It costs about $0.10 to $0.50 of write units. Nothing else in the account is read or changed.

  --yes  I understand that

Exit codes: 0 done, 1 failed, 3 wrong usage`;

const INSTANCE = 'bench.example.com';
const IN_FLIGHT = 64;
const FOR_MS = 20_000;
const WARM_UP_MS = 5_000;
const SIDES = { 'one transaction per job': 0, 'group commit, one relay': 1, 'group commit, two relays': 2 };
const clock = { ...systemRelayClock, sleep: systemClock.sleep };

async function measure(client: DynamoDBClient, tableName: string, relays: number, forMs: number) {
  const table = dynamoTable(client, tableName);
  const dynamo = new DynamoStore({ table, instance: INSTANCE, clock: systemClock, random: Math.random });
  const store = countingStore(dynamo, INSTANCE);
  const { naive, grouped } = sides({ store, clock, random: Math.random, defer: setImmediate, roots: 1 });
  const firstJobId = Date.now();
  const inFlight = forMs === WARM_UP_MS ? 4 : IN_FLIGHT;
  const ask = relays === 0 ? naive() : grouped(relays);
  const load = await closedLoop(ask, { clock, forMs, inFlight, roots: 1, firstJobId });
  if (load.admitted === 0) throw new Error('no job was admitted; is the table throttled?');
  const perJob = (count: number): number => Math.round((count / load.admitted) * 100) / 100;
  const { conflicts, throttles, tableUnits, indexUnits } = store.counts;
  return {
    admittedPerSecond: Math.round(load.admitted / load.seconds),
    p50Ms: Math.round(quantile(load.latenciesMs, 0.5)),
    p99Ms: Math.round(quantile(load.latenciesMs, 0.99)),
    conflictsPerJob: perJob(conflicts),
    throttlesPerJob: perJob(throttles),
    unitsPerJobByFormula: perJob(tableUnits + indexUnits),
  };
}

async function main(): Promise<number> {
  const { yes } = parseArgs({ options: { yes: { type: 'boolean' } } }).values;
  if (!yes) {
    console.error(`This writes to a table in your AWS account: pass --yes.\n\n${USAGE}`);
    return 3;
  }
  const client = dynamoClient();
  const tableName = `tollgate-bench-${Date.now()}`;
  await ensureTable(client, tableName);
  try {
    await waitUntilTableExists({ client, maxWaitTime: 120 }, { TableName: tableName });
    await measure(client, tableName, 1, WARM_UP_MS);
    const rows: Record<string, object> = {};
    for (const [side, relays] of Object.entries(SIDES))
      rows[side] = await measure(client, tableName, relays, FOR_MS);
    console.table(rows);
    return 0;
  } finally {
    await client
      .send(new DeleteTableCommand({ TableName: tableName }))
      .catch((error) => console.error(`Delete the table ${tableName}: that failed here.`, error));
  }
}

await runProgram(main, 'npm run bench:aws', (error) => error instanceof TypeError);
