import { handle } from 'hono/aws-lambda';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { secretLines, ssmText } from '../core/environment/secrets.ts';
import { readSettleConfig } from '../core/environment/settings.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { signedTable } from '../core/store/signed-table.ts';
import { createSettleApp } from './app.ts';

const config = readSettleConfig(process.env);
const linesOf = (parameter: string) =>
  secretLines({ load: () => ssmText(parameter), clock: systemClock, log: consoleLog });

const secrets = linesOf(config.secretsParameter);
/** At the start, when the function has a whole processor. A failure is the delivery's, which asks again. */
void secrets().catch(() => {});

export const handler = handle(
  createSettleApp({
    inbox: new DynamoStore({
      table: signedTable(config.ledgerTable, process.env, config.dynamodbEndpoint),
      instance: config.gitlabInstance,
      clock: systemClock,
      random: Math.random,
    }),
    secrets,
    ...(config.tokensParameter !== undefined && { legacyTokens: linesOf(config.tokensParameter) }),
    clock: systemClock,
    random: Math.random,
    log: consoleLog,
  }),
);
