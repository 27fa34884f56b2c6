import { randomBytes } from 'node:crypto';
import { DynamoDirectoryTable } from '../core/directory/dynamo-directory-table.ts';
import { readWholeDirectory } from '../core/directory/whole-directory.ts';
import { systemClock } from '../core/environment/clock.ts';
import { consoleLog } from '../core/environment/log.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { deployedTable } from '../core/ledger/deployed-table.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { onOwnBooks } from '../core/ledger/own-books.ts';
import { createLimitsDesk } from '../core/limits/desk/create-limits-desk.ts';
import { DynamoLimitTable } from '../core/limits/dynamo-limit-table.ts';
import { deployedMetrics } from '../core/metrics/metrics.ts';
import { readPackedRules } from '../core/rules/packed-rules.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { readSsmLimitsConfig } from './config.ts';
import { dynamoParameterMarks } from './dynamo-marks.ts';
import { runOn } from './run.ts';
import { ssmParameters } from './ssm-parameters.ts';

/** Hundreds of chunks, some at once. */
const DIRECTORY_TIMEOUT_MS = 10_000;

const config = readSsmLimitsConfig(process.env);
const packed = readPackedRules(config.rulesFile);
const table = deployedTable(config);
const directoryTable = new DynamoDirectoryTable(table);
const directory = async () =>
  (await readWholeDirectory(directoryTable, { timeoutMs: DIRECTORY_TIMEOUT_MS }))?.directory ??
  packed.directory;

const deps = {
  path: config.limitsPath,
  parameters: ssmParameters({ endpoint: config.ssmEndpoint }),
  marks: dynamoParameterMarks(table),
  desk: createLimitsDesk({
    table: new DynamoLimitTable(table),
    policy: packed.policy,
    packed: packed.limits.document,
    directory,
    ledger: createLedger({ store: new DynamoStore(table) }),
    clock: systemClock,
    newId: () => randomBytes(8).toString('hex'),
  }),
  packed: packed.limits,
  policy: packed.policy,
  directory,
  clock: systemClock,
  random: Math.random,
  log: consoleLog,
  metrics: deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock }),
};

/**
 * Lambda's entry point for the schedule and for changes of parameters. Give it 290 s, one instance, and no retries: the next
 * run does what this one did not.
 */
export const handler = onOwnBooks(table, (event: unknown): Promise<void> => runOn(event, deps));
