import { randomBytes } from 'node:crypto';
import { readWholeDirectory } from '../core/directory/directory-part.ts';
import { DynamoDirectoryTable } from '../core/directory/directory-table.ts';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readSsmLimitsConfig } from '../core/environment/settings.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { createLimitEdits } from '../core/limits/create-limit-edits.ts';
import { DynamoLimitTable } from '../core/limits/limit-table.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { followRules } from '../core/rules.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { runOn } from './import-parameter.ts';
import { dynamoImportedVersions } from './imported-versions.ts';
import { ssmParameters } from './parameters.ts';

const DIRECTORY_TIMEOUT_MS = 10_000;

const config = readSsmLimitsConfig(process.env);
const table = deployedTable(config, process.env);
const directoryTable = new DynamoDirectoryTable(table);
const deps = followRules({ rulesFile: config.rulesFile, table, log: consoleLog }, (packed) => {
  const directory = async () =>
    (await readWholeDirectory(directoryTable, { timeoutMs: DIRECTORY_TIMEOUT_MS }))?.directory ??
    packed.directory;

  return {
    path: config.limitsPath,
    parameters: ssmParameters(config.ssmEndpoint),
    imported: dynamoImportedVersions(table),
    limitEdits: createLimitEdits({
      table: new DynamoLimitTable(table),
      policy: packed.policy,
      packed: packed.written.document,
      directory,
      ledger: createLedger({ store: new DynamoStore(table) }),
      clock: systemClock,
      newId: () => randomBytes(8).toString('hex'),
    }),
    packed: packed.written,
    policy: packed.policy,
    directory,
    clock: systemClock,
    random: Math.random,
    log: consoleLog,
    metrics: deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock }),
  };
});

/**
 * Lambda's entry point for the schedule and for changes of parameters. Give it 290 s, one instance, and no retries: the next
 * run does what this one did not.
 */
export const handler = refuseForeignTable(table, async (event: unknown) =>
  runOn(event, await deps.current()),
);
