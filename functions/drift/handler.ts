import { createLedger } from '../ledger/create-ledger.ts';
import { deployedTable } from '../ledger/deployed-table.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { deployedMetrics } from '../metrics/metrics.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { consoleLog } from '../shared/log.ts';
import { checkDrift, type DriftReport } from './check-drift.ts';
import { readDriftConfig } from './config.ts';
import { measureReport } from './measure-report.ts';

const config = readDriftConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(deployedTable(config)),
});

/** Lambda's entry point for the schedule of every night. Give it 15 minutes: it reads the table twice. */
export async function handler(): Promise<DriftReport> {
  const report = await checkDrift({ ledger, log: consoleLog });
  measureReport(report, metrics);
  return report;
}
