/** Contention, latency and write units on a real table. See USAGE. */
import { randomUUID } from 'node:crypto';
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
import { median } from './bench/figure.ts';
import { closedLoop, INSTANCE, relayOpener } from './bench/load.ts';

const USAGE = `npm run bench:aws -- --yes

Creates the table "tollgate-bench-…" in the account and region of your AWS settings, measures transactions of 4, 25, 50 and 100
items, runs one transaction per job, group commit with one relay and with two relays against one hot group for 20 s each with 64
jobs in flight, and deletes the table. The first table gives BENCH_TRANSACTION_MS (with 4 items, less the network) and BENCH_ITEM_MS.
It costs about $0.10 to $0.50 of write units; --yes accepts that. Nothing else in the account is read or changed.

Exit codes: 0 done, 1 failed, 3 wrong usage`;

async function main(args: readonly string[]): Promise<number> {
  if (!parseInput(args, { yes: toggle('') }, {}).flags.yes)
    throw new UsageError('This writes to a table in your AWS account: pass --yes.');
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
  const measureTransactions = async (items: number) => {
    const writes = Array.from({ length: items }, (_, item) => ({
      ...({ kind: 'counter', key: { subject: `group/${item}`, limit: 'bench', period: 'now' } } as const),
      ...{ committed: 1, fitted: 1, settled: 0, unchecked: {} },
    }));
    const timesMs: number[] = [];
    for (let call = 0; call < 100; call += 1) {
      const startedMs = clock.monotonicMs();
      await dynamo.transact(writes, { token: randomUUID(), timeoutMs: 5_000 });
      timesMs.push(clock.monotonicMs() - startedMs);
    }
    return { items, p50Ms: median(timesMs).toFixed(1) };
  };
  await ensureTable(client, TableName);
  try {
    await waitUntilTableExists({ client, maxWaitTime: 120 }, { TableName });
    await measure(1, 5_000, 4);
    const times = [];
    for (const items of [4, 25, 50, 100]) times.push(await measureTransactions(items));
    console.table(times);
    console.table([await measure('naive'), await measure(1), await measure(2)]);
    return 0;
  } finally {
    const deleted = client.send(new DeleteTableCommand({ TableName }));
    await deleted.catch((error) => console.error(`Delete the table ${TableName}: that failed here.`, error));
  }
}

await runProgram(main, 'npm run bench:aws -- --help', { usage: USAGE });
