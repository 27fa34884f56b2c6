import { systemClock as clock, consoleLog as log, ssmText } from '../core/environment/index.ts';
import { type RetryOutcome, retryJob } from '../core/gitlab/index.ts';
import { createLedger, DynamoStore, deployedTable, onOwnBooks } from '../core/ledger/index.ts';
import { dynamoRequeueLists } from '../core/requeue/index.ts';
import { readPackedRules } from '../core/rules/index.ts';
import { DynamoRollupStore } from '../core/usage/index.ts';
import { readRequeueConfig } from './config.ts';
import { type RequeueReport, requeue } from './requeue.ts';

const config = readRequeueConfig(process.env);
const { policy } = readPackedRules(config.rulesFile);
const table = deployedTable(config, process.env);
const deps = {
  agreed: policy.requeue ?? [],
  lists: dynamoRequeueLists(table),
  usage: new DynamoRollupStore(table),
  ledger: createLedger({ store: new DynamoStore(table) }),
  retry: async (groupId: number, projectId: number, jobId: number): Promise<RetryOutcome> => {
    const token = await tokenOf(groupId);
    return token === undefined
      ? { outcome: 'unheard', why: "the group's token cannot be read" }
      : retryJob(projectId, jobId, { baseUrl: config.gitlabUrl, token: async () => token, fetch, clock });
  },
  clock,
  log,
};

/** Undefined: nobody kept one, or it may not be read. The other groups go on. */
async function tokenOf(groupId: number): Promise<string | undefined> {
  try {
    return (await ssmText(`${config.tokensPath}/${groupId}`)).trim();
  } catch (error) {
    log.warn("a group's token cannot be read", {
      groupId,
      error: error instanceof Error ? error.name : 'unknown error',
    });
    return undefined;
  }
}

/** Lambda's entry point for the schedule of every minute. Give it 90 s, and one run at a time. */
export const handler = onOwnBooks(table, (): Promise<RequeueReport> => requeue(deps));
