import { setImmediate } from 'node:timers/promises';
import type { EstimateSettings } from '../../policies/estimate.ts';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readAdmitConfig } from '../core/environment/settings.ts';
import { createEstimateCache, dynamoEstimateSource } from '../core/estimates/estimates.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, foreignTableCheck, registerKey } from '../core/ledger/instances.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { askedAhead } from '../core/store/asked-ahead.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { ENV_CONSOLE_URL, ENV_DEPLOYMENT, FUNCTION_METRIC } from '../names.ts';
import { admitRoutes, type FunctionUrlEvent, onFunctionUrl } from './routes.ts';

const config = readAdmitConfig(process.env);
const opened = deployedTable(config, process.env);
const { rulesPointer, limitPointer, directoryPointer } = ledgerKeys(config.gitlabInstance);
/** Items read before the rules: the instance, and the pointers of rules, limits and directory. */
const table = {
  ...opened,
  table: askedAhead(opened, [registerKey(opened.instance), rulesPointer, limitPointer, directoryPointer]),
};
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(table),
  onRetry: () => metrics.add(FUNCTION_METRIC.ledgerRetries, 1),
});
const onUnreadable = (): void => metrics.add(FUNCTION_METRIC.limitsUnreadable, 1);
const rules = readRules();
/** Until the rules are read, histories are read as if the policy used them. */
let estimate: Pick<EstimateSettings, 'mode'> = {};
// A failure is not caught here, so that it ends the process even while a request waits.
void rules.then(async ({ current }) => {
  estimate = (await current()).policy.estimate;
});
const estimates = createEstimateCache({ source: dynamoEstimateSource(table), clock: systemClock });

const ownTable = foreignTableCheck(table);
const answer = onFunctionUrl(
  admitRoutes({
    ledger,
    currentRules: async (requests) => {
      // Start this read early: histories are read while rules, limits and directory are.
      void estimates.estimatorFor(requests, estimate, systemClock.monotonicMs());
      // Every write to the table comes after this check.
      const [{ rulesFor }] = await Promise.all([rules, ownTable()]);
      return rulesFor(requests);
    },
    estimatorFor: estimates.estimatorFor,
    handOutPolicy: async () => (await rules).handOutPolicy(),
    handOutDirectory: async (have) => (await rules).handOutDirectory(have),
    consoleUrl: process.env[ENV_CONSOLE_URL] || undefined,
    clock: systemClock,
    log: consoleLog,
    metrics,
  }),
);

export async function handler(event: FunctionUrlEvent) {
  const response = answer(event);
  // A foreign table is the error of the call even if the answer fails first.
  await Promise.all([ownTable(), response.catch(() => {})]);
  return response;
}

/** After the import: parsers and ICU's time zones cost 15 ms, which Lambda's wait for the first call hides. */
async function readRules() {
  await setImmediate();
  const { deployedRules } = await import('./lazy-rules.ts');
  // The connection to the table proceeds before the parsers block this thread.
  await setImmediate();
  return deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog, onUnreadable });
}
