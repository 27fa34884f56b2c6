import { readAdmitConfig } from '../../admit/config.ts';
import { readRulesFile } from '../../admit/rules-file.ts';
import { createLedger } from '../../ledger/create-ledger.ts';
import { dynamoClient } from '../../ledger/dynamo-client.ts';
import { DynamoStore } from '../../ledger/dynamo-store.ts';
import { ledgerKeys } from '../../ledger/keys.ts';
import { systemClock } from '../../ledger/system-clock.ts';
import { consoleLog } from '../../shared/log.ts';
import { consume, type TableStreamEvent, type TableStreamResponse } from '../consume.ts';

/** The same settings as the admit function's: a job nobody asked about is evaluated here. */
const config = readAdmitConfig(process.env);
const rules = readRulesFile(config.rulesFile);
const ledger = createLedger({
  store: new DynamoStore({
    client: dynamoClient(config.dynamodbEndpoint),
    tableName: config.ledgerTable,
    instance: config.gitlabInstance,
    clock: systemClock,
    random: Math.random,
  }),
});

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = (event: TableStreamEvent): Promise<TableStreamResponse> =>
  consume(event, {
    ledger,
    keys: ledgerKeys(config.gitlabInstance),
    currentRules: async () => rules,
    clock: systemClock,
    log: consoleLog,
  });
