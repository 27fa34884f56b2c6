import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readHealth } from '../answers/health/judge-health.ts';
import { HEALTH_ALARM } from '../answers/health/judged.ts';
import { gitlabUnknown, readGitLabHealth } from '../answers/health/read-gitlab.ts';
import { dynamoHealthCheck } from '../answers/health/read-health.ts';
import { systemClock as clock, consoleLog as log } from '../core/environment/environment.ts';
import { secretLines, ssmText } from '../core/environment/secrets.ts';
import { readDoctorConfig } from '../core/environment/settings.ts';
import { deployedFetch } from '../core/gitlab/gitlab-fetch.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { dynamoPublishedRules } from '../core/published-rules.ts';
import { ENV_DEPLOYMENT, FUNCTION_METRIC } from '../names.ts';

const config = readDoctorConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock });
const table = deployedTable(config, process.env);
const bundled = z
  .object({ policy: z.object({ version: z.string() }) })
  .parse(JSON.parse(readFileSync(config.rulesFile, 'utf8')));
const published = dynamoPublishedRules(table);
async function policyVersion(): Promise<string> {
  const current = await published.pointer();
  return (current === undefined ? bundled : await published.read(current.hash)).policy.version;
}
const fetch = deployedFetch(process.env, { clock, log });
const tokens = secretLines({ load: () => ssmText(config.gitlabTokenParameter), clock, log });

async function gitlab() {
  let token: string;
  try {
    token = (await tokens())[0] ?? '';
  } catch (error) {
    // A client's own message could quote what it was given.
    const name = error instanceof Error ? error.name : '';
    return gitlabUnknown(
      `the token could not be read from ${config.gitlabTokenParameter}: ${name}`,
      'no_token',
    );
  }
  const calls = { baseUrl: config.gitlabUrl, token: async () => token, fetch, clock };
  return readGitLabHealth({ calls, controllerId: config.controllerId, webhookUrl: config.webhookUrl });
}

/** Give it 240 s: webhooks of many groups take two of its minutes. */
export const handler = refuseForeignTable(table, async () => {
  const { descriptorsVersion } = config;
  const deployed = { policyVersion: await policyVersion().catch(() => undefined), descriptorsVersion };
  const view = await readHealth({ ...table, zone: config.zone, deployed: async () => deployed, gitlab });
  for (const { about, severity, text, remedy } of view.findings)
    if (severity === 'problem' || severity === 'warning')
      log.warn(`health: ${severity}`, { about, found: text, ...(remedy !== undefined && { remedy }) });
  const alarming = view.findings.filter(({ alarm }) => alarm === HEALTH_ALARM).length;
  const report = { findings: view.findings.length, problems: view.problems, alarming };
  log.info('health', report);
  metrics.add(FUNCTION_METRIC.healthProblems, alarming);
  metrics.flush();
  await dynamoHealthCheck(table).write({ view, deployed });
  return report;
});
