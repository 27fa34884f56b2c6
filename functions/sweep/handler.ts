import { deployedRules } from '../admit/deployed-rules.ts';
import { createGitLab } from '../gitlab/rest-gitlab.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { deployedTable } from '../ledger/deployed-table.ts';
import { dynamoMarks } from '../ledger/dynamo-marks.ts';
import { DynamoStore } from '../ledger/dynamo-store.ts';
import { systemClock } from '../ledger/system-clock.ts';
import { deployedMetrics } from '../metrics/metrics.ts';
import { ENV_DEPLOYMENT, METRIC_LEDGER_RETRIES } from '../names.ts';
import { settleTruths } from '../settle/settle-truths.ts';
import { consoleLog } from '../shared/log.ts';
import { secretLines } from '../shared/secret-lines.ts';
import { ssmText } from '../shared/ssm-text.ts';
import { readSweepConfig } from './config.ts';
import { logReport } from './log-report.ts';
import { measureReport } from './measure-report.ts';
import type { SweepReport } from './report.ts';
import { sweep } from './sweep.ts';
import { newSweepMemory } from './sweep-memory.ts';

/** A call's last try must end soon after the run does: calls under way are waited for. */
const CALL_DEADLINE_MS = 8_000;

const config = readSweepConfig(process.env);
const table = deployedTable(config);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const ledger = createLedger({
  store: new DynamoStore(table),
  onRetry: () => metrics.add(METRIC_LEDGER_RETRIES, 1),
});
const rules = deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog });
const tokens = secretLines({
  load: () => ssmText(config.gitlabTokenParameter),
  clock: systemClock,
  log: consoleLog,
});
const gitlab = createGitLab({
  baseUrl: config.gitlabUrl,
  token: async () => (await tokens())[0] ?? '',
  fetch,
  clock: systemClock,
  deadlineMs: CALL_DEADLINE_MS,
});
const settling = { ledger, currentRules: rules.rulesFor, clock: systemClock, log: consoleLog };
const memory = newSweepMemory();

/** Lambda's entry point for the schedule of every minute. Give it 90 s: the run takes 50 and ends what it began. */
export async function handler(): Promise<SweepReport> {
  const report = await sweep({
    gitlab,
    ledger,
    marks: dynamoMarks(table),
    chargeBypass: (truths) => settleTruths(truths, settling),
    memory,
    clock: systemClock,
    chargeUnknown: config.chargeUnknown,
  });
  logReport(report, consoleLog);
  measureReport(report, metrics);
  return report;
}
