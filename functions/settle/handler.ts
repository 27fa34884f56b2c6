import { handle } from 'hono/aws-lambda';
import { consoleLog, secretLines, ssmText, systemClock } from '../core/environment/index.ts';
import { DynamoStore } from '../core/ledger/index.ts';
import { dynamoClient, dynamoTable } from '../core/store/index.ts';
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
