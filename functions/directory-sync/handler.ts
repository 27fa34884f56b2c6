import { randomBytes } from 'node:crypto';
import { type DirectorySyncReport, DynamoDirectoryTable, syncDirectory } from '../core/directory/index.ts';
import { consoleLog, secretLines, ssmText, systemClock } from '../core/environment/index.ts';
import { createGitLabDirectory } from '../core/gitlab/index.ts';
import { onOwnBooks } from '../core/ledger/index.ts';
import { deployedMetrics } from '../core/metrics/index.ts';
import { dynamoClient, dynamoTable } from '../core/store/index.ts';
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
