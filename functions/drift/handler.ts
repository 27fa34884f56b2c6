import { DynamoDirectoryTable, readWholeDirectory } from '../core/directory/index.ts';
import { consoleLog, systemClock } from '../core/environment/index.ts';
import {
  createLedger,
  DynamoStore,
  deployedTable,
  dynamoPseudonymKeys,
  dynamoRecountOutcomes,
  onOwnBooks,
  replaceUserIds,
} from '../core/ledger/index.ts';
import { deployedMetrics } from '../core/metrics/index.ts';
import { DynamoRollupStore, placeBy } from '../core/usage/index.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { checkDrift, type DriftReport } from './check-drift.ts';
import { readDriftConfig } from './config.ts';
import { measureDriftReport } from './measure-report.ts';
import { MENDED_MS, mendUsage } from './mend-usage.ts';
import { agedRecords, collectRecentRecords } from './records-to-check.ts';

const DIRECTORY_TIMEOUT_MS = 10_000;
/** Leaves two of the run's 15 minutes: the next night goes on. */
const NAMES_UNTIL_MS = 13 * 60_000;

const config = readDriftConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const table = deployedTable(config, process.env);
const store = new DynamoStore(table);

/** Lambda's entry point for the schedule of every night. Give it 15 minutes: it reads the table twice. */
export const handler = onOwnBooks(table, async (): Promise<DriftReport> => {
  const startMs = systemClock.monotonicMs();
  const aged = agedRecords(store, systemClock.nowMs());
  const recent = collectRecentRecords(store, systemClock.nowMs() - MENDED_MS, aged.store);
  const report = await checkDrift({
    ledger: createLedger({ store: recent.store }),
    outcomes: dynamoRecountOutcomes(table),
    clock: systemClock,
    log: consoleLog,
  });
  measureDriftReport(report, metrics);
  const known = await readWholeDirectory(new DynamoDirectoryTable(table), {
    timeoutMs: DIRECTORY_TIMEOUT_MS,
  });
  await mendUsage(
    { records: recent.records(), leftOut: recent.leftOut() },
    {
      store: new DynamoRollupStore(table),
      clock: systemClock,
      random: Math.random,
      placeOf: placeBy(known?.directory, config.zone),
      log: consoleLog,
    },
  );
  const names = await replaceUserIds(aged.jobIds(), startMs + NAMES_UNTIL_MS, {
    ...{ store, clock: systemClock },
    keys: dynamoPseudonymKeys(table),
  });
  consoleLog.info('user ids replaced', { ...names, leftOut: aged.leftOut() });
  return report;
});
