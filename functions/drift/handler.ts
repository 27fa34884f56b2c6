import { DynamoDirectoryTable } from '../directory/dynamo-directory-table.ts';
import { readWholeDirectory } from '../directory/whole-directory.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { deployedTable } from '../ledger/deployed-table.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { onOwnBooks } from '../ledger/own-books.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { deployedMetrics } from '../metrics/metrics.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { placeBy } from '../rollup/contribution.ts';
import { DynamoRollupStore } from '../rollup/dynamo-rollup-store.ts';
import { consoleLog } from '../shared/log.ts';
import { checkDrift, type DriftReport } from './check-drift.ts';
import { readDriftConfig } from './config.ts';
import { measureReport } from './measure-report.ts';
import { MENDED_MS, mendUsage } from './mend-usage.ts';
import { recentRecords } from './recent-records.ts';

const DIRECTORY_TIMEOUT_MS = 10_000;

const config = readDriftConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const table = deployedTable(config);

/** Lambda's entry point for the schedule of every night. Give it 15 minutes: it reads the table twice. */
export const handler = onOwnBooks(table, async (): Promise<DriftReport> => {
  const recent = recentRecords(new DynamoStore(table), systemClock.nowMs() - MENDED_MS);
  const report = await checkDrift({ ledger: createLedger({ store: recent.store }), log: consoleLog });
  measureReport(report, metrics);
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
  return report;
});
