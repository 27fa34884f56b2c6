import { handle } from 'hono/aws-lambda';
import { systemClock } from '../core/environment/clock.ts';
import { consoleLog } from '../core/environment/log.ts';
import { secretLines } from '../core/environment/secret-lines.ts';
import { ssmText } from '../core/environment/ssm-text.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { dynamoClient } from '../core/store/dynamo-client.ts';
import { dynamoTable } from '../core/store/dynamo-table.ts';
import { createSettleApp } from './app.ts';
import { readSettleConfig } from './config.ts';

const config = readSettleConfig(process.env);
const linesOf = (parameter: string) =>
  secretLines({ load: () => ssmText(parameter), clock: systemClock, log: consoleLog });

/** Lambda's entry point for GitLab's webhook; takes function URL events and those of that shape. */
export const handler = handle(
  createSettleApp({
    inbox: new DynamoStore({
      table: dynamoTable(dynamoClient(config.dynamodbEndpoint), config.ledgerTable),
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
