import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readWatchdogConfig } from '../core/environment/settings.ts';
import { createController } from '../core/gitlab/controller.ts';
import { deployedCalls } from '../core/gitlab/gitlab-fetch.ts';
import { snsNotifier } from '../core/notify/sns.ts';
import { signedTable } from '../core/store/signed-table.ts';
import { dynamoWatchTable, tokenProof, type WatchOutcome, watch } from './watch.ts';

/** Reading the state with all its tries; a look must end before the next one begins. */
const GITLAB_DEADLINE_MS = 12_000;

const config = readWatchdogConfig(process.env);
const { gitlabUrl, controllerId, controllerTokenParameter: tokenParameter } = config;
const programDeps = { clock: systemClock, log: consoleLog };
const calls = deployedCalls({ gitlabUrl, tokenParameter }, process.env, programDeps);
const controller = createController({ ...calls, controllerId, deadlineMs: GITLAB_DEADLINE_MS });
const deps = {
  table: dynamoWatchTable({
    table: signedTable(config.ledgerTable, process.env, config.dynamodbEndpoint),
    instance: config.gitlabInstance,
    disarmsAfterFailedJob: config.disarmsAfterFailedJob,
  }),
  controller,
  proveToken: tokenProof({ controller, ...programDeps }),
  notify: snsNotifier({ topicArn: config.pageTopic }),
  ...programDeps,
  instance: config.gitlabInstance,
};

/** Lambda's entry point for the schedule of every minute. Give it 45 s, one instance, and no retries. */
export async function handler(): Promise<WatchOutcome> {
  const outcome = await watch(deps);
  if (outcome === 'relay_heard') consoleLog.info('watchdog', { outcome });
  else consoleLog.warn('watchdog', { outcome });
  // An error is what the function's alarm counts: the page may have been lost as well.
  if (outcome === 'token_refused') throw new Error('[watchdog] GitLab refuses its token');
  if (outcome === 'gitlab_unreachable') throw new Error('[watchdog] GitLab could not be asked to disarm');
  return outcome;
}
