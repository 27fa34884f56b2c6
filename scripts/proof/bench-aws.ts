/** `npm run bench:aws`: contention, latency and write units on a real table. See USAGE. */

import { parseArgs } from 'node:util';
import {
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { systemClock as ledgerClock } from '../../functions/core/environment/index.ts';
import { DynamoStore, type LedgerStore } from '../../functions/core/ledger/index.ts';
import { dynamoClient, dynamoTable } from '../../functions/core/store/index.ts';
import { systemRelayClock as relayClock } from '../../relay/relay.ts';
import { ensureTable, startDynamoDbLocal } from '../local/dynamodb-local.ts';
import { quantile } from '../local/quantile.ts';
import { consumedUnits } from './bench/consumed-units.ts';
import { countingStore } from './bench/counting-store.ts';
import { closedLoop, sides } from './bench/sides.ts';

const USAGE = `npm run bench:aws -- --yes [--seconds 20] [--in-flight 64] [--json]
npm run bench:aws -- --local

Creates the table "tollgate-bench-…" in the account and region of your AWS settings, runs one transaction per job, group
commit with one relay and with two relays against one hot group, each for --seconds, and deletes the table.
It writes at most a few hundred thousand write units a minute: about $0.10 to $0.50 at $0.625 per million for a default
run. Nothing else in the account is read or changed.

  --yes          that is understood
  --seconds <n>  per side (default 20)
  --in-flight <n>
  --local        against DynamoDB Local instead: proves that the script works, and says nothing about contention, since
                 DynamoDB Local never raises TransactionConflict and reports four units for every transaction
  --json

Exit codes: 0 done, 1 failed, 3 wrong usage`;

interface Side {
  readonly side: string;
  readonly admittedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly conflictsPerJob: number;
  readonly throttlesPerJob: number;
  /** What we count. */
  readonly unitsPerJobByFormula: number;
  /** What the service says it took; it says nothing about failed transactions. */
  readonly unitsPerJobReported: number;
}

const INSTANCE = 'bench.example.com';
/** A table that was just made, and its connections, answer their first questions too slowly to be measured. */
const WARM_UP_MS = 1_000;
const WARM_UPS_MAX = 20;

async function measure(
  client: DynamoDBClient,
  tableName: string,
  forMs: number,
  inFlight: number,
): Promise<readonly Side[]> {
  const reported = consumedUnits(client);
  const results: Side[] = [];
  await warmUp(client, tableName, inFlight);
  let firstJobId = 10_000_000;
  for (const [side, relays] of [
    ['one transaction per job', 0],
    ['group commit, one relay', 1],
    ['group commit, two relays', 2],
  ] as const) {
    const store = countingStore(storeOn(client, tableName), INSTANCE);
    const ways = waysTo(store);
    const before = reported();
    const load = await closedLoop(relays === 0 ? ways.naive() : ways.grouped(relays), {
      clock,
      forMs,
      inFlight,
      roots: 1,
      firstJobId,
    });
    firstJobId += 10_000_000;
    if (load.admitted === 0) throw new Error(`${side}: not one job was admitted; is the table throttled?`);
    const perJob = (count: number): number => Math.round((count / load.admitted) * 100) / 100;
    results.push({
      side,
      admittedPerSecond: Math.round(load.admitted / load.seconds),
      p50Ms: Math.round(quantile(load.latenciesMs, 0.5)),
      p99Ms: Math.round(quantile(load.latenciesMs, 0.99)),
      conflictsPerJob: perJob(store.counts.conflicts),
      throttlesPerJob: perJob(store.counts.throttles),
      unitsPerJobByFormula: perJob(store.counts.tableUnits + store.counts.indexUnits),
      unitsPerJobReported: perJob(reported() - before),
    });
  }
  return results;
}

const clock = { ...relayClock, sleep: ledgerClock.sleep };

const storeOn = (client: DynamoDBClient, tableName: string): DynamoStore =>
  new DynamoStore({
    table: dynamoTable(client, tableName),
    instance: INSTANCE,
    clock: ledgerClock,
    random: Math.random,
  });

const waysTo = (store: LedgerStore) =>
  sides({ store, clock, random: Math.random, defer: setImmediate, roots: 1 });

/** Admits a few jobs at a time until as many went through as will be in flight. */
async function warmUp(client: DynamoDBClient, tableName: string, inFlight: number): Promise<void> {
  const ask = waysTo(storeOn(client, tableName)).grouped(1);
  let admitted = 0;
  for (let time = 0; time < WARM_UPS_MAX && admitted < inFlight; time += 1) {
    const firstJobId = 1 + time * 100_000;
    admitted += (await closedLoop(ask, { clock, forMs: WARM_UP_MS, inFlight: 4, roots: 1, firstJobId }))
      .admitted;
  }
}

function options() {
  try {
    return parseArgs({
      options: {
        yes: { type: 'boolean' },
        local: { type: 'boolean' },
        seconds: { type: 'string' },
        'in-flight': { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
}

async function main(): Promise<number> {
  const given = options();
  if (typeof given === 'string') {
    console.error(`${given}\n\n${USAGE}`);
    return 3;
  }
  const { yes, local, seconds = local ? '3' : '20', 'in-flight': inFlight = '64', json, help } = given;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (!yes && !local) {
    console.error(
      `This writes to a table in your AWS account: say --yes, or try it with --local.\n\n${USAGE}`,
    );
    return 3;
  }
  const numbers = { '--seconds': Number(seconds), '--in-flight': Number(inFlight) };
  for (const [flag, value] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value >= 1 && value <= 1_000) continue;
    console.error(`${flag}: expected a whole number from 1 to 1000\n\n${USAGE}`);
    return 3;
  }
  const database = local ? await startDynamoDbLocal() : undefined;
  const client = dynamoClient(database?.endpoint);
  const tableName = `tollgate-bench-${Date.now()}`;
  try {
    await ensureTable(client, tableName);
    await waitUntilTableExists({ client, maxWaitTime: 120 }, { TableName: tableName });
    const sidesMeasured = await measure(
      client,
      tableName,
      numbers['--seconds'] * 1000,
      numbers['--in-flight'],
    );
    if (json) console.log(JSON.stringify({ tableName, local: local === true, sides: sidesMeasured }));
    else console.table(Object.fromEntries(sidesMeasured.map(({ side, ...rest }) => [side, rest])));
    return 0;
  } finally {
    await removeTable(client, tableName);
    await database?.stop();
  }
}

/** Says so if the table may have stayed: it costs nothing while empty, but nobody wants it. */
async function removeTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(new DescribeTableCommand({ TableName: tableName }));
    await client.send(new DeleteTableCommand({ TableName: tableName }));
  } catch (error) {
    console.error(
      `The table ${tableName} could not be deleted, please do: ${error instanceof Error ? error.name : error}`,
    );
  }
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error);
  process.exit(1);
}
