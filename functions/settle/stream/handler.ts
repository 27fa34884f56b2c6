import { systemClock } from '../../core/environment/clock.ts';
import { consoleLog } from '../../core/environment/log.ts';
import { createLedger } from '../../core/ledger/create-ledger.ts';
import { deployedTable } from '../../core/ledger/deployed-table.ts';
import { dynamoControllerScope } from '../../core/ledger/dynamo-controller-scope.ts';
import { DynamoStore } from '../../core/ledger/dynamo-store.ts';
import { onOwnBooks } from '../../core/ledger/own-books.ts';
import { deployedMetrics } from '../../core/metrics/metrics.ts';
import { readAdmitConfig } from '../../core/rules/config.ts';
import { deployedRules } from '../../core/rules/deployed-rules.ts';
import { ledgerKeys } from '../../core/store/keys.ts';
import { ENV_DEPLOYMENT, METRIC_CLAMPED_DURATIONS, METRIC_LEDGER_RETRIES } from '../../names.ts';
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
