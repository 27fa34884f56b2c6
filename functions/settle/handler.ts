import { handle } from 'hono/aws-lambda';
import { dynamoClient } from '../ledger/dynamo-client.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { consoleLog } from '../shared/log.ts';
import { secretLines } from '../shared/secret-lines.ts';
import { ssmText } from '../shared/ssm-text.ts';
import { createSettleApp } from './app.ts';
import { readSettleConfig } from './config.ts';

const config = readSettleConfig(process.env);
const linesOf = (parameter: string) =>
  secretLines({ load: () => ssmText(parameter), clock: systemClock, log: consoleLog });

/** Lambda's entry point for GitLab's webhook; takes function URL events and those of that shape. */
export const handler = handle(
  createSettleApp({
    inbox: new DynamoStore({
      client: dynamoClient(config.dynamodbEndpoint),
      tableName: config.ledgerTable,
      instance: config.gitlabInstance,
      clock: systemClock,
      random: Math.random,
    }),
    secrets: linesOf(config.secretsParameter),
    ...(config.tokensParameter !== undefined && { legacyTokens: linesOf(config.tokensParameter) }),
    clock: systemClock,
    log: consoleLog,
  }),
);
