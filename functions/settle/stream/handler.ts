import { recordUnmetered } from '../../core/admission/decide.ts';
import { consoleLog, systemClock } from '../../core/environment/environment.ts';
import { readAdmitConfig } from '../../core/environment/settings.ts';
import { createLedger } from '../../core/ledger/create-ledger.ts';
import { DynamoStore } from '../../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../../core/ledger/instances.ts';
import { deployedMetrics } from '../../core/metrics.ts';
import { deployedRules } from '../../core/rules.ts';
import { ledgerKeys } from '../../core/store/keys.ts';
import { ENV_DEPLOYMENT, FUNCTION_METRIC } from '../../names.ts';
import { consume, type TableStreamEvent, type TableStreamResponse } from '../consume.ts';

/** The same settings as the admit function's: answers that relays gave on their own are evaluated here. */
const config = readAdmitConfig(process.env);
const table = deployedTable(config, process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(table),
  onRetry: () => metrics.add(FUNCTION_METRIC.ledgerRetries, 1),
  onClampedDuration: () => metrics.add(FUNCTION_METRIC.impossibleEnds, 1),
});
const rules = deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog });

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = refuseForeignTable(
  table,
  (event: TableStreamEvent): Promise<TableStreamResponse> =>
    consume(event, {
      ledger,
      keys: ledgerKeys(config.gitlabInstance),
      directoryFor: rules.directoryFor,
      recordJournal: (answers) =>
        recordUnmetered(answers, { ledger, currentRules: rules.rulesFor, clock: systemClock }),
      clock: systemClock,
      log: consoleLog,
      metrics,
    }),
);
