import { recordUnmetered } from '../../core/admission/index.ts';
import { consoleLog, systemClock } from '../../core/environment/index.ts';
import {
  createLedger,
  DynamoStore,
  deployedTable,
  dynamoControllerScope,
  onOwnBooks,
} from '../../core/ledger/index.ts';
import { deployedMetrics } from '../../core/metrics/index.ts';
import { deployedRules, readAdmitConfig } from '../../core/rules/index.ts';
import { dynamoYetFailed, ledgerKeys } from '../../core/store/index.ts';
import { ENV_DEPLOYMENT, METRIC_CLAMPED_DURATIONS, METRIC_LEDGER_RETRIES } from '../../names.ts';
import { cachedScope } from '../cached-scope.ts';
import { consume, type TableStreamEvent, type TableStreamResponse } from '../consume.ts';

/** The same settings as the admit function's: a job nobody asked about is evaluated here. */
const config = readAdmitConfig(process.env);
const table = deployedTable(config, process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(table),
  onRetry: () => metrics.add(METRIC_LEDGER_RETRIES, 1),
  onClampedDuration: () => metrics.add(METRIC_CLAMPED_DURATIONS, 1),
});
const rules = deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog });

const scope = cachedScope({ store: dynamoControllerScope(table), clock: systemClock, log: consoleLog });

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = onOwnBooks(
  table,
  (event: TableStreamEvent): Promise<TableStreamResponse> =>
    consume(event, {
      ledger,
      keys: ledgerKeys(config.gitlabInstance),
      currentRules: rules.rulesFor,
      recordJournal: (answers) =>
        recordUnmetered(answers, { ledger, currentRules: rules.rulesFor, clock: systemClock }),
      scope,
      clock: systemClock,
      log: consoleLog,
      metrics,
      yetFailed: dynamoYetFailed(table),
    }),
);
