import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readAdmitConfig } from '../core/environment/settings.ts';
import { createEstimateCache, dynamoEstimateSource } from '../core/estimates/estimates.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable, registerKey } from '../core/ledger/instances.ts';
import { deployedMetrics } from '../core/metrics.ts';
import type { deployedRules } from '../core/rules.ts';
import { askedAhead } from '../core/store/asked-ahead.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import {
  ENV_CONSOLE_URL,
  ENV_DEPLOYMENT,
  METRIC_LEDGER_RETRIES,
  METRIC_LIMITS_UNREADABLE,
} from '../names.ts';
import { admitRoutes, onFunctionUrl } from './routes.ts';

const config = readAdmitConfig(process.env);
const opened = deployedTable(config, process.env);
const keys = ledgerKeys(config.gitlabInstance);
/** Items read before the rules: the instance, and the pointers of limits and directory. */
const table = {
  ...opened,
  table: askedAhead(opened, [registerKey(opened.instance), keys.limitPointer, keys.directoryPointer]),
};
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(table),
  onRetry: () => metrics.add(METRIC_LEDGER_RETRIES, 1),
});
const onUnreadable = (): void => metrics.add(METRIC_LIMITS_UNREADABLE, 1);
/** After the import: parsers and ICU's time zones cost 15 ms, which Lambda's wait for the first call hides. A failure ends the process. */
const rules = new Promise<ReturnType<typeof deployedRules>>((resolve, reject) => {
  setImmediate(() => {
    import('./lazy-rules.ts')
      .then((module) =>
        module.deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog, onUnreadable }),
      )
      .then(resolve, reject);
  });
});
const estimates = createEstimateCache({ source: dynamoEstimateSource(table), clock: systemClock });

export const handler = refuseForeignTable(
  table,
  onFunctionUrl(
    admitRoutes({
      ledger,
      currentRules: async (requests) => {
        const { packed, rulesFor } = await rules;
        // Start this read early: histories are read while limits and directory are.
        void estimates.estimatorFor(requests, packed.policy.estimate, systemClock.monotonicMs());
        return rulesFor(requests);
      },
      estimatorFor: estimates.estimatorFor,
      handOutDirectory: async (have) => (await rules).handOutDirectory(have),
      consoleUrl: process.env[ENV_CONSOLE_URL] || undefined,
      clock: systemClock,
      log: consoleLog,
      metrics,
    }),
  ),
);
