import { randomBytes } from 'node:crypto';
import { DynamoDirectoryTable } from '../core/directory/dynamo-directory-table.ts';
import { type DirectorySyncReport, syncDirectory } from '../core/directory/sync.ts';
import { systemClock } from '../core/environment/clock.ts';
import { consoleLog } from '../core/environment/log.ts';
import { secretLines } from '../core/environment/secret-lines.ts';
import { ssmText } from '../core/environment/ssm-text.ts';
import { createGitLabDirectory } from '../core/gitlab/rest-directory.ts';
import { onOwnBooks } from '../core/ledger/own-books.ts';
import { deployedMetrics } from '../core/metrics/metrics.ts';
import { dynamoClient } from '../core/store/dynamo-client.ts';
import { dynamoTable } from '../core/store/dynamo-table.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { readDirectoryConfig } from './config.ts';
import { logDirectoryReport, measureDirectoryReport } from './report.ts';

const config = readDirectoryConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const place = {
  table: dynamoTable(dynamoClient(config.dynamodbEndpoint), config.ledgerTable),
  instance: config.gitlabInstance,
};
const table = new DynamoDirectoryTable(place);
const tokens = secretLines({
  load: () => ssmText(config.gitlabTokenParameter),
  clock: systemClock,
  log: consoleLog,
});
const gitlab = createGitLabDirectory({
  baseUrl: config.gitlabUrl,
  token: async () => (await tokens())[0] ?? '',
  fetch,
  clock: systemClock,
});

/** Lambda's entry point for the schedule of every five minutes. Give it 240 s: the run asks for 150 and writes after that. */
export const handler = onOwnBooks(place, async (): Promise<DirectorySyncReport> => {
  const runId = randomBytes(6).toString('base64url');
  const report = await syncDirectory({ gitlab, table, clock: systemClock, runId });
  logDirectoryReport(report, consoleLog);
  measureDirectoryReport(report, metrics);
  return report;
});
