import { randomBytes } from 'node:crypto';
import { DynamoDirectoryTable } from '../core/directory/directory-table.ts';
import { type DirectorySyncReport, syncDirectory } from '../core/directory/sync.ts';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { secretLines, ssmText } from '../core/environment/secrets.ts';
import { readDirectoryConfig } from '../core/environment/settings.ts';
import { deployedCalls } from '../core/gitlab/gitlab-fetch.ts';
import { createGitLabDirectory } from '../core/gitlab/rest-gitlab.ts';
import { refuseForeignTable } from '../core/ledger/instances.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { signedTable } from '../core/store/signed-table.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { logDirectoryReport, makeHooks, measureDirectoryReport } from './make-hooks.ts';

const config = readDirectoryConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const place = {
  table: signedTable(config.ledgerTable, process.env, config.dynamodbEndpoint),
  instance: config.gitlabInstance,
};
const table = new DynamoDirectoryTable(place);
const { gitlabUrl, hooks } = config;
const programDeps = { clock: systemClock, log: consoleLog };
const callsWith = (tokenParameter: string) =>
  deployedCalls({ gitlabUrl, tokenParameter }, process.env, programDeps);
const reading = callsWith(config.gitlabTokenParameter);
const gitlab = createGitLabDirectory(reading);
const making = hooks && {
  url: hooks.url,
  making: callsWith(hooks.tokenParameter),
  secrets: secretLines({ load: () => ssmText(hooks.secretsParameter), ...programDeps }),
};

/** Lambda's entry point for the schedule of every five minutes. Give it 240 s: the run asks for 150 and writes after that. */
export const handler = refuseForeignTable(place, async (): Promise<DirectorySyncReport> => {
  const runId = randomBytes(6).toString('base64url');
  const report = await syncDirectory({ gitlab, table, clock: systemClock, runId });
  logDirectoryReport(report, consoleLog);
  measureDirectoryReport(report, metrics);
  if (making !== undefined)
    await makeHooks(report.rootIds, { ...making, reading, nowMs: systemClock.nowMs(), log: consoleLog });
  return report;
});
