import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readSweepConfig } from '../core/environment/settings.ts';
import { deployedCalls } from '../core/gitlab/gitlab-fetch.ts';
import { createGitLab } from '../core/gitlab/rest-gitlab.ts';
import { chargeBypass } from '../core/job-ends/charge-bypass.ts';
import { dynamoReportedEnds, dynamoSweepCheckpoints } from '../core/ledger/checkpoints.ts';
import { dynamoControllerScope } from '../core/ledger/controller.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, dynamoInstanceRegister, refuseForeignTable } from '../core/ledger/instances.ts';
import { createClosing } from '../core/ledger/rebuild.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { deployedRules } from '../core/rules.ts';
import { dynamoYetFailed } from '../core/store/health-items.ts';
import { ENV_DEPLOYMENT, FUNCTION_METRIC } from '../names.ts';
import { scopeKeeper } from './keep-scope.ts';
import { logSweepReport, measureSweepReport, newSweepMemory, type SweepReport } from './run.ts';
import { sweep } from './sweep.ts';

/** A call's last try must end soon after the run does: calls under way are waited for. */
const CALL_DEADLINE_MS = 8_000;
const SCOPE_DEADLINE_MS = 4_000;

const config = readSweepConfig(process.env);
const table = deployedTable(config, process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const store = new DynamoStore(table);
const ledger = createLedger({
  store,
  onRetry: () => metrics.add(FUNCTION_METRIC.ledgerRetries, 1),
  onClampedDuration: () => metrics.add(FUNCTION_METRIC.impossibleEnds, 1),
});
const rules = deployedRules({ rulesFile: config.rulesFile, table, ledger, log: consoleLog });
const { gitlabUrl, gitlabTokenParameter: tokenParameter } = config;
const programDeps = { clock: systemClock, log: consoleLog };
const calls = deployedCalls({ gitlabUrl, tokenParameter }, process.env, programDeps);
const gitlab = createGitLab({ ...calls, deadlineMs: CALL_DEADLINE_MS });
const charging = { ledger, currentRules: rules.rulesFor, ...programDeps };
const memory = newSweepMemory();
const closePeriods = createClosing({ ...table, store });
const currentScope =
  config.controllerId === undefined
    ? async () => undefined
    : scopeKeeper({
        controllerId: config.controllerId,
        gitlab: { ...calls, deadlineMs: SCOPE_DEADLINE_MS },
        store: dynamoControllerScope(table),
        ...programDeps,
      });
let remembered: Promise<void> | undefined;
const rememberName = (): Promise<void> =>
  dynamoInstanceRegister(table).remember({
    instance: config.gitlabInstance,
    gitlabUrl,
    openedAtMs: systemClock.nowMs(),
  });

/** Lambda's entry point for the schedule of every minute. Give it 90 s: the run takes 50 and ends what it began. */
export const handler = refuseForeignTable(table, async (): Promise<SweepReport> => {
  remembered ??= rememberName().catch(() => {
    remembered = undefined;
  });
  const [scope] = await Promise.all([currentScope(), remembered]);
  const report = await sweep({
    gitlab,
    ledger,
    marks: dynamoSweepCheckpoints(table),
    reported: dynamoReportedEnds(table),
    scope,
    chargeBypass: (gitlabJobs) => chargeBypass(gitlabJobs, { ...charging, scope: async () => scope }),
    closePeriods,
    memory,
    clock: systemClock,
    chargeUnknown: config.chargeUnknown,
  });
  logSweepReport(report, consoleLog);
  measureSweepReport(report, metrics);
  await noteYetFailed(report.admittedYetFailed.at(-1));
  return report;
});

/** Stores the job for the watchdog. Its end is already settled, so a failure here is ignored. */
async function noteYetFailed(jobId: number | undefined): Promise<void> {
  if (jobId === undefined) return;
  const mark = { jobId, atMs: systemClock.nowMs() };
  await dynamoYetFailed(table)
    .write(mark)
    .catch((error: unknown) =>
      consoleLog.error('failed admitted job was not stored: the watchdog cannot see it', {
        error: String(error),
      }),
    );
}
