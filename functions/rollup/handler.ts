import { readRulesFile } from '../admit/rules-file.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { dynamoClient } from '../ledger/dynamo-client.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { ledgerKeys } from '../ledger/keys.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { consoleLog } from '../shared/log.ts';
import { type AnnounceCrossingsDeps, announceCrossings } from '../thresholds/announce-crossings.ts';
import { limitOf } from '../thresholds/limit-of.ts';
import { snsNotify } from '../thresholds/sns-notify.ts';
import { readRollupConfig } from './config.ts';
import { placeBy } from './contribution.ts';
import { DynamoRollupStore } from './dynamo-rollup-store.ts';
import { type OnTransitions, type RollUpDeps, rollUp, type StreamAnswer } from './roll-up.ts';

const config = readRollupConfig(process.env);
const { policy, limits, directory } = readRulesFile(config.rulesFile);
const table = {
  client: dynamoClient(config.dynamodbEndpoint),
  tableName: config.ledgerTable,
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
};

/** A stream has room for two readers in all, and settlement is the other: thresholds ride along here. */
function tellOwners(topicArn: string): OnTransitions {
  const telling: AnnounceCrossingsDeps = {
    ledger: createLedger({ store: new DynamoStore(table) }),
    limitOf: async (key) => limitOf(key, limits, directory, systemClock.nowMs()),
    notify: snsNotify({ topicArn }),
    clock: systemClock,
    currency: policy.currency,
    log: consoleLog,
  };
  return (steps) => announceCrossings(steps, telling);
}

const deps: RollUpDeps = {
  store: new DynamoRollupStore(table),
  keys: ledgerKeys(config.gitlabInstance),
  clock: systemClock,
  random: Math.random,
  placeOf: placeBy(directory, config.zone),
  log: consoleLog,
  ...(config.thresholdsTopicArn !== undefined && { onTransitions: tellOwners(config.thresholdsTopicArn) }),
};

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = (event: unknown): Promise<StreamAnswer> => rollUp(event, deps);
