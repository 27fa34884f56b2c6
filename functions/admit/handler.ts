import { handle } from 'hono/aws-lambda';
import { createEstimateCache } from '../estimates/estimate-cache.ts';
import { dynamoEstimateSource } from '../estimates/estimate-source.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { dynamoClient } from '../ledger/dynamo-client.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { consoleLog } from '../shared/log.ts';
import { createAdmitApp } from './app.ts';
import { readAdmitConfig } from './config.ts';
import type { Rules } from './decide.ts';

const config = readAdmitConfig(process.env);
/**
 * Read right after the import rather than during it: the parsers and the time zones of ICU cost some 15 ms, which Lambda's
 * wait for the first invocation can hide. Rules that cannot be read end the process, as they would have ended the import.
 */
const rules = new Promise<Rules>((resolve, reject) => {
  setImmediate(() => {
    import('./rules-file.ts')
      .then(({ readRulesFile }) => readRulesFile(config.rulesFile))
      .then(resolve, reject);
  });
});
const table = {
  client: dynamoClient(config.dynamodbEndpoint),
  tableName: config.ledgerTable,
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
};
const store = new DynamoStore(table);
const estimates = createEstimateCache({ source: dynamoEstimateSource(table), clock: systemClock });

/** Lambda's entry point; takes function URL, API Gateway v2 and invoke events of that shape. */
export const handler = handle(
  createAdmitApp({
    ledger: createLedger({ store }),
    currentRules: () => rules,
    estimatorFor: estimates.estimatorFor,
    clock: systemClock,
    log: consoleLog,
  }),
);
