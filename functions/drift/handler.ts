import { DynamoDirectoryTable } from '../core/directory/dynamo-directory-table.ts';
import { readWholeDirectory } from '../core/directory/whole-directory.ts';
import { systemClock } from '../core/environment/clock.ts';
import { consoleLog } from '../core/environment/log.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { deployedTable } from '../core/ledger/deployed-table.ts';
import { dynamoPseudonymKeys } from '../core/ledger/dynamo-pseudonym-keys.ts';
import { dynamoRecountOutcomes } from '../core/ledger/dynamo-recount-outcomes.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { onOwnBooks } from '../core/ledger/own-books.ts';
import { replaceUserIds } from '../core/ledger/replace-user-ids.ts';
import { deployedMetrics } from '../core/metrics/metrics.ts';
import { placeBy } from '../core/usage/contribution.ts';
import { DynamoRollupStore } from '../core/usage/dynamo-rollup-store.ts';
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
const table = deployedTable(config);
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
