/** Contention, latency and write units on a real table. See USAGE. */
import { DeleteTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoClient, dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { systemRelayClock } from '../../relay/relay.ts';
import { ensureTable } from '../local/dynamodb-local.ts';
import { quantile } from '../local/random.ts';
import { UsageError } from '../terminal/command.ts';
import { parseInput, toggle } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { benchRules } from './bench/bench-rules.ts';
import { countingStore } from './bench/counting-store.ts';
import { closedLoop, INSTANCE, relayOpener } from './bench/load.ts';

const USAGE = `npm run bench:aws -- --yes

Creates the table "tollgate-bench-…" in the account and region of your AWS settings, runs one transaction per job, group
commit with one relay and with two relays against one hot group for 20 s each with 64 jobs in flight, and deletes the table.
It costs about $0.10 to $0.50 of write units; --yes accepts that. Nothing else in the account is read or changed.

Exit codes: 0 done, 1 failed, 3 wrong usage`;

async function main(): Promise<number> {
  if (!parseInput(process.argv.slice(2), { yes: toggle('') }, {}).flags.yes)
    throw new UsageError(`This writes to a table in your AWS account: pass --yes.\n\n${USAGE}`);
  const client = dynamoClient();
  const TableName = `tollgate-bench-${Date.now()}`;
  const clock = { ...systemRelayClock, sleep: systemClock.sleep };
  const using = { clock, random: Math.random, rules: benchRules(1), defer: setImmediate };
  const parts = { instance: INSTANCE, clock: systemClock, random: Math.random };
  const dynamo = new DynamoStore({ table: dynamoTable(client, TableName), ...parts });
  const measure = async (relays: number | 'naive', forMs = 20_000, inFlight = 64) => {
    const store = countingStore(dynamo, INSTANCE);
    const admit = relayOpener({ ...using, store })(relays);
    const load = await closedLoop(admit, {
      clock,
      forMs,
      inFlight,
      roots: 1,
      firstJobId: Date.now() * 1_000,
    });
    if (load.admitted === 0) throw new Error('no job was admitted; is the table throttled?');
    const { unitsPerJob, conflictsPerJob, throttlesPerJob } = store.perJob(load.admitted);
    const rounded = (value: number): number => Math.round(value * 100) / 100;
    return {
      ...{ relays, admittedPerSecond: Math.round(load.perSecond) },
      p50Ms: Math.round(quantile(load.latenciesMs, 0.5)),
      p99Ms: Math.round(quantile(load.latenciesMs, 0.99)),
      ...{ conflictsPerJob: rounded(conflictsPerJob), throttlesPerJob: rounded(throttlesPerJob) },
      unitsPerJobByFormula: rounded(unitsPerJob),
    };
  };
  await ensureTable(client, TableName);
  try {
    await waitUntilTableExists({ client, maxWaitTime: 120 }, { TableName });
    await measure(1, 5_000, 4);
    console.table([await measure('naive'), await measure(1), await measure(2)]);
    return 0;
  } finally {
    const deleted = client.send(new DeleteTableCommand({ TableName }));
    await deleted.catch((error) => console.error(`Delete the table ${TableName}: that failed here.`, error));
  }
}

await runProgram(main, 'npm run bench:aws');
