import { readWholeDirectory } from '../core/directory/directory-part.ts';
import { DynamoDirectoryTable } from '../core/directory/directory-table.ts';
import { systemClock as clock, consoleLog as log } from '../core/environment/environment.ts';
import { groupTokens, secretLines, ssmText } from '../core/environment/secrets.ts';
import { readNoticesConfig } from '../core/environment/settings.ts';
import { deployedFetch } from '../core/gitlab/gitlab-fetch.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { DynamoLimitTable } from '../core/limits/limit-table.ts';
import { chatSender } from '../core/notify/chat.ts';
import { snsNotifier } from '../core/notify/sns.ts';
import { followRules } from '../core/rules.ts';
import { dynamoAlertRecords } from '../core/thresholds/alert-records.ts';
import { DynamoRollupStore } from '../core/usage/rollup-store.ts';
import { dynamoCursorStore, type NoticesDeps } from './run.ts';
import { sendNotices } from './send-notices.ts';

const DIRECTORY_TIMEOUT_MS = 20_000;

const config = readNoticesConfig(process.env);
const { gitlabInstance: instance, chatParameter, approvalKeyParameter, notes } = config;
const table = deployedTable(config, process.env);
const directoryTable = new DynamoDirectoryTable(table);
const linesIn = (parameter: string) => secretLines({ load: () => ssmText(parameter), clock, log });

const deps = followRules(
  { rulesFile: config.rulesFile, table, log },
  (packed): NoticesDeps => ({
    cursors: dynamoCursorStore(table),
    limitTable: new DynamoLimitTable(table),
    policy: packed.policy,
    packed: packed.limits,
    directory: async () => {
      const whole = await readWholeDirectory(directoryTable, { timeoutMs: DIRECTORY_TIMEOUT_MS });
      return whole?.directory ?? packed.directory;
    },
    ledger: createLedger({ store: new DynamoStore(table) }),
    usage: new DynamoRollupStore(table),
    notify: snsNotifier({ topicArn: config.topicArn }),
    alerts: dynamoAlertRecords(table),
    ...(approvalKeyParameter !== undefined && {
      approvals: { instance, keys: linesIn(approvalKeyParameter) },
    }),
    ...(chatParameter !== undefined && {
      chat: { lines: linesIn(chatParameter), sender: chatSender({ fetch, sleep: clock.sleep }) },
    }),
    ...(notes !== undefined && {
      notes: {
        gitlabUrl: notes.gitlabUrl,
        tokenOf: groupTokens(notes.tokensPath, log),
        fetch: deployedFetch(process.env, { clock, log }),
      },
    }),
    clock,
    zone: config.zone,
    consoleUrl: config.consoleUrl,
    log,
  }),
);

/** The schedule gives it a minute, and never runs it twice in parallel. */
export const handler = refuseForeignTable(table, async () => sendNotices(await deps.current()));
