import { systemClock as clock, consoleLog as log } from '../core/environment/environment.ts';
import { groupTokens } from '../core/environment/secrets.ts';
import { readRequeueConfig } from '../core/environment/settings.ts';
import { deployedFetch } from '../core/gitlab/gitlab-fetch.ts';
import { type RetryOutcome, retryJob } from '../core/gitlab/rest-gitlab.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { dynamoRequeueLists } from '../core/requeue-list.ts';
import { deployedRules } from '../core/rules.ts';
import { DynamoRollupStore } from '../core/usage/rollup-store.ts';
import { requeue } from './requeue.ts';

const config = readRequeueConfig(process.env);
const table = deployedTable(config, process.env);
const ledger = createLedger({ store: new DynamoStore(table) });
const { current, rulesFor } = deployedRules({ rulesFile: config.rulesFile, table, ledger, log });
const fetch = deployedFetch(process.env, { clock, log });
const tokenOf = groupTokens(config.tokensPath, log);
const deps = {
  lists: dynamoRequeueLists(table),
  usage: new DynamoRollupStore(table),
  ledger,
  rulesFor,
  retry: async (groupId: number, projectId: number, jobId: number): Promise<RetryOutcome> => {
    const token = await tokenOf(groupId);
    return token === undefined
      ? { outcome: 'unheard', why: "the group's token cannot be read" }
      : retryJob(projectId, jobId, { baseUrl: config.gitlabUrl, token: async () => token, fetch, clock });
  },
  clock,
  log,
};

/** Lambda's entry point for the schedule of every minute. Give it 90 s, and one run at a time. */
export const handler = refuseForeignTable(table, async () =>
  requeue({ ...deps, agreed: (await current()).policy.requeue ?? [] }),
);
