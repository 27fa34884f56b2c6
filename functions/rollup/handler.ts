import { readRulesFile } from '../admit/rules-file.ts';
import { dynamoClient } from '../ledger/dynamo-client.ts';
import { ledgerKeys } from '../ledger/keys.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { consoleLog } from '../shared/log.ts';
import { readRollupConfig } from './config.ts';
import { placeBy } from './contribution.ts';
import { DynamoRollupStore } from './dynamo-rollup-store.ts';
import { type RollUpDeps, rollUp, type StreamAnswer } from './roll-up.ts';

const config = readRollupConfig(process.env);
const { directory } = readRulesFile(config.rulesFile);
const deps: RollUpDeps = {
  store: new DynamoRollupStore({
    client: dynamoClient(config.dynamodbEndpoint),
    tableName: config.ledgerTable,
    instance: config.gitlabInstance,
    clock: systemClock,
    random: Math.random,
  }),
  keys: ledgerKeys(config.gitlabInstance),
  clock: systemClock,
  random: Math.random,
  placeOf: placeBy(directory, config.zone),
  log: consoleLog,
};

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = (event: unknown): Promise<StreamAnswer> => rollUp(event, deps);
