import { readAdmitConfig } from '../../admit/config.ts';
import { deployedRules } from '../../admit/deployed-rules.ts';
import { createLedger } from '../../ledger/create-ledger.ts';
import { deployedTable } from '../../ledger/deployed-table.ts';
import { dynamoControllerScope } from '../../ledger/dynamo-controller-scope.ts';
import { DynamoStore } from '../../ledger/dynamo-store.ts';
import { ledgerKeys } from '../../ledger/keys.ts';
import { onOwnBooks } from '../../ledger/own-books.ts';
import { systemClock } from '../../ledger/system-clock.ts';
import { deployedMetrics } from '../../metrics/metrics.ts';
import { ENV_DEPLOYMENT, METRIC_CLAMPED_DURATIONS, METRIC_LEDGER_RETRIES } from '../../names.ts';
import { consoleLog } from '../../shared/log.ts';
import { cachedScope } from '../cached-scope.ts';
import { consume, type TableStreamEvent, type TableStreamResponse } from '../consume.ts';

/** The same settings as the admit function's: a job nobody asked about is evaluated here. */
const config = readAdmitConfig(process.env);
const table = deployedTable(config);
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
      scope,
      clock: systemClock,
      log: consoleLog,
      metrics,
    }),
);
