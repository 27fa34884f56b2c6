import { randomBytes } from 'node:crypto';
import { getConnInfo, handle } from 'hono/aws-lambda';
import { createConsoleRead } from '../answers/create-console-read.ts';
import { placesNow } from '../answers/reading/limits-now.ts';
import { DynamoDirectoryTable } from '../core/directory/directory-table.ts';
import { systemClock as clock, consoleLog as log } from '../core/environment/environment.ts';
import { secretLines, ssmText } from '../core/environment/secrets.ts';
import { runnerDetails, userNames } from '../core/gitlab/cached-answers.ts';
import { deployedFetch } from '../core/gitlab/gitlab-fetch.ts';
import { createFleet } from '../core/gitlab/runners.ts';
import { dynamoRecountOutcomes, dynamoSweepCheckpoints } from '../core/ledger/checkpoints.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { createLimitEdits } from '../core/limits/create-limit-edits.ts';
import { createUploads, DynamoLimitTable } from '../core/limits/limit-table.ts';
import { approvalCheck } from '../core/notify/approval-link.ts';
import { snsNotifier } from '../core/notify/sns.ts';
import { dynamoRequeueLists } from '../core/requeue-list.ts';
import { followRules } from '../core/rules.ts';
import { dynamoSheetStore } from '../core/sheets/sheet-store.ts';
import { ownAddress, visitorAddress } from '../core/signin/config.ts';
import { createSignIn } from '../core/signin/create-sign-in.ts';
import { dynamoSessionStore } from '../core/signin/dynamo-session-store.ts';
import { gitlabRoles } from '../core/signin/gitlab-roles.ts';
import { ownSessions } from '../core/signin/sessions.ts';
import { dynamoStatementChain } from '../core/statements/closed-statement.ts';
import { dynamoPriceLists } from '../core/statements/price-lists.ts';
import { dynamoAlertRecords } from '../core/thresholds/alert-records.ts';
import { dynamoCounterSnapshots } from '../core/usage/counter-snapshot.ts';
import { DynamoRollupStore } from '../core/usage/rollup-store.ts';
import { createOwnerNotifier } from './api/notify-owner.ts';
import { createConsoleApp } from './app.ts';
import { readConsoleConfig } from './config.ts';
import { createAssets } from './pages/assets.ts';
import { createPages } from './pages/create-pages.ts';
import { renderNotice } from './pages/problem-page.tsx';

/** For each of the two calls for a runner: a page is shown without them. */
const RUNNER_DEADLINE_MS = 1_000;

const config = readConsoleConfig(process.env);
const { signIn: signInConfig, zone } = config;
const visitorOf = visitorAddress(config.trustedProxies);
const table = deployedTable(config, process.env);
const newId = (): string => randomBytes(8).toString('hex');
const linesIn = (parameter: string) => secretLines({ load: () => ssmText(parameter), clock, log });
const secretIn = (parameter: string): (() => Promise<string>) => {
  const lines = linesIn(parameter);
  return async () => (await lines())[0] ?? '';
};

const store = new DynamoStore(table);
const ledger = createLedger({ store });
const usage = new DynamoRollupStore(table);
const limitTable = new DynamoLimitTable(table);
const app = followRules({ rulesFile: config.rulesFile, table, log }, (packed) => {
  const { policy } = packed;
  const places = placesNow({ table: new DynamoDirectoryTable(table), packed: packed.directory, clock });
  const directory = async () => (await places())?.directory;

  const marks = dynamoSweepCheckpoints(table);
  /** The sweep has looked at all jobs of a runner up to such an id. */
  const recentJobIds = async () =>
    [...((await marks.read())?.runners.values() ?? [])].map(({ seenTo }) => seenTo);

  const limitEdits = createLimitEdits({
    ...{ table: limitTable, policy, packed: packed.written.document },
    ...{ directory, ledger, clock, newId, zone },
  });
  const { origin } = ownAddress(signInConfig.redirectUrl);
  const fetch = deployedFetch(process.env, { clock, log });
  const { gitlabUrl } = signInConfig;
  const gitlab = { baseUrl: gitlabUrl, token: secretIn(signInConfig.gitlabTokenParameter), fetch, clock };
  const quickly = { ...gitlab, deadlineMs: RUNNER_DEADLINE_MS };
  const read = createConsoleRead({
    limitEdits,
    limitTable,
    packedLimits: packed.limits,
    policy,
    ledger,
    usage,
    sheets: dynamoSheetStore(table),
    // Pages never scan the table: months use their days.
    books: {
      instance: table.instance,
      description: `table ${table.table.tableName}`,
      usage,
      chain: dynamoStatementChain(table),
      prices: dynamoPriceLists(table),
    },
    recounts: dynamoRecountOutcomes(table),
    counterSnapshots: dynamoCounterSnapshots(table),
    alerts: dynamoAlertRecords(table),
    requeue: dynamoRequeueLists(table),
    places,
    zone,
    clock,
    recentJobIds,
    runnerDetails: runnerDetails({ fleet: createFleet(quickly), clock, log }),
    userNames: userNames({ gitlab: quickly, clock, log }),
    gitlabUrl,
    consoleUrl: origin,
  });
  const sessions = dynamoSessionStore(table);
  const signIn = createSignIn({
    issuer: gitlabUrl,
    clientId: signInConfig.clientId,
    ...(signInConfig.deviceClientId !== undefined && { deviceClientId: signInConfig.deviceClientId }),
    clientSecret: secretIn(signInConfig.clientSecretParameter),
    redirectUrl: signInConfig.redirectUrl,
    fetch,
    sessions,
    roles: gitlabRoles(signInConfig.roles, gitlab),
    clock,
    random: randomBytes,
    // Lambda's own word for it: a Function URL sets it from the connection.
    addressOf: (c) =>
      visitorOf({
        connection: getConnInfo(c).remote.address ?? '',
        forwardedFor: c.req.header('x-forwarded-for'),
      }),
    log,
    render: renderNotice,
  });
  const { ownersTopicArn: topicArn, approvalKeyParameter, gitlabInstance: instance } = config;
  const parts = {
    ...{ limitEdits, read, policy, directory, clock, origin, log },
    ...(topicArn && {
      notifyOwner: createOwnerNotifier({ notify: snsNotifier({ topicArn }), ledger, origin }),
    }),
  };
  const pages = createPages({
    ...parts,
    uploads: createUploads({ table: limitTable, clock, newId }),
    sessions: ownSessions(sessions, clock),
    zone,
    ...(approvalKeyParameter && {
      checkApproval: approvalCheck({ instance, keys: linesIn(approvalKeyParameter), clock }),
    }),
  });
  return handle(createConsoleApp({ ...parts, signIn, pages, assets: createAssets() }));
});

/** Lambda's entry point for people's browsers and for programs; takes function URL events and those of that shape. */
export const handler = refuseForeignTable(table, async (...args: Parameters<ReturnType<typeof handle>>) =>
  (await app.current())(...args),
);
