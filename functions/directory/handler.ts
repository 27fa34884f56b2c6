import { randomBytes } from 'node:crypto';
import { createGitLabDirectory } from '../gitlab/rest-directory.ts';
import { dynamoClient } from '../ledger/dynamo-client.ts';
import { onOwnBooks } from '../ledger/own-books.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { deployedMetrics } from '../metrics/metrics.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { consoleLog } from '../shared/log.ts';
import { secretLines } from '../shared/secret-lines.ts';
import { ssmText } from '../shared/ssm-text.ts';
import { readDirectoryConfig } from './config.ts';
import { DynamoDirectoryTable } from './dynamo-directory-table.ts';
import { logReport } from './log-report.ts';
import { measureReport } from './measure-report.ts';
import { type SyncReport, syncDirectory } from './sync.ts';

const config = readDirectoryConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const place = {
  client: dynamoClient(config.dynamodbEndpoint),
  tableName: config.ledgerTable,
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
export const handler = onOwnBooks(place, async (): Promise<SyncReport> => {
  const runId = randomBytes(6).toString('base64url');
  const report = await syncDirectory({ gitlab, table, clock: systemClock, runId });
  logReport(report, consoleLog);
  measureReport(report, metrics);
  return report;
});
