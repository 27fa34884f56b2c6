import { Duration } from 'aws-cdk-lib';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as names from '../../functions/names.ts';
import type { ProgramName } from '../monitoring/series.ts';
import type { Settings } from '../settings/deployment.ts';
import { webhooksAtOnce } from '../settings/webhooks-at-once.ts';
import type { DecisionExport } from './decision-export.ts';
import { type LedgerTable, tableKeyStatements } from './ledger-table.ts';
import { arnHere, grantGitLabRoute, grantSecret, NodeLambda, type NodeLambdaProps } from './node-lambda.ts';
import { publishTo } from './statements.ts';
import { consumeStream, type StreamReading } from './stream-consumer.ts';
import type { LedgerUse } from './table-rights.ts';
import type { OperatorsTopic, ThresholdsTopic } from './topics.ts';

export interface ProgramsProps extends Pick<NodeLambdaProps, 'settings' | 'bundlesPath'> {
  readonly ledger: LedgerTable;
  readonly thresholds: ThresholdsTopic;
  readonly operators: OperatorsTopic;
  readonly decisionExport: DecisionExport | undefined;
  /** Programs that call GitLab run here if GitLab is reached from inside only. */
  readonly network: NonNullable<NodeLambdaProps['network']>;
}

type Variables = Readonly<Record<string, string | undefined>>;

interface ProgramRow {
  readonly id: string;
  /** @default 512, which buys CPU for cold starts */
  readonly memoryMiB?: number;
  readonly timeout: Duration;
  /** @default 1 for what runs by the clock, which would do its work twice; else the account's rest */
  readonly concurrencyMax?: number;
  readonly isDeployed?: boolean;
  /** It calls GitLab: gets GitLab's address, and the network if GitLab is reached from inside only. */
  readonly callsGitLab?: boolean;
  readonly variables?: Variables;
  /** SecureStrings that it may read, by the variable that passes their name. */
  readonly secrets?: Variables;
  /** Paths of SecureStrings, one for each group that gave a token: `<path>/101`. */
  readonly secretPaths?: Variables;
  readonly use?: LedgerUse;
  readonly notifies?: boolean;
  /** Every so many minutes, or once an hour in this minute. The next run does what a missed or failed one did not. */
  readonly schedule?: { readonly everyMinutes: number } | { readonly minute: string };
  readonly stream?: StreamReading;
}

function programRows(
  settings: Settings,
  exportsDecisions: boolean,
): Readonly<Record<ProgramName, ProgramRow>> {
  const { parameters, console, gitlab, notices } = settings;
  const controllerId = gitlab.controllerId === undefined ? undefined : String(gitlab.controllerId);
  const usageZone = { [names.ENV_ROLLUP_ZONE]: settings.usageZone };
  const gitlabToken = { [names.ENV_GITLAB_TOKEN_PARAMETER]: parameters.gitlabToken };
  return {
    admit: {
      id: 'Admit',
      // A relay waits at most 10 s; later work is useless.
      timeout: Duration.seconds(11),
      use: 'decide',
      variables: { [names.ENV_CONSOLE_URL]: console?.url },
    },
    /** Public, because GitLab cannot sign AWS requests: it checks GitLab's signature before it reads the body. */
    settle: {
      id: 'Settle',
      memoryMiB: 256,
      timeout: Duration.seconds(10),
      // Kept for webhooks, so that nothing else takes it, and no more, so that a flood costs no more.
      concurrencyMax: webhooksAtOnce(settings.webhooks.jobsPerSecond),
      use: 'receive',
      secrets: {
        [names.ENV_WEBHOOK_SECRETS_PARAMETER]: parameters.webhookSecrets,
        [names.ENV_WEBHOOK_TOKENS_PARAMETER]: parameters.webhookTokens,
      },
    },
    'settle-stream': {
      id: 'SettleStream',
      timeout: Duration.seconds(60),
      use: 'settle',
      stream: {
        sortKeys: [{ prefix: names.INBOX_SK }],
        events: ['INSERT'],
        batchSize: 100,
        // Halves the writes of counters.
        batchWindow: Duration.seconds(1),
        // A failure may be temporary (a throttled table). The sweep settles jobs that are given up here.
        retries: 20,
        givenUpAfter: Duration.hours(2),
      },
    },
    rollup: {
      id: 'Rollup',
      timeout: Duration.seconds(60),
      use: 'rollUp',
      notifies: true,
      variables: usageZone,
      stream: {
        sortKeys: [
          names.RECORD_SK,
          names.COUNTER_SK,
          ...(exportsDecisions ? [names.CLOSING_SK, { prefix: names.ENTRY_SK_PREFIX }] : []),
        ],
        ...(exportsDecisions && {
          partitions: [{ prefix: `${gitlab.instance}${names.LIMITS_PK_SUFFIX}` }],
        }),
        events: ['INSERT', 'MODIFY'],
        batchSize: 200,
        // Pages show figures of minutes ago, and a fuller batch writes each sum, list and exported object once:
        // this is the largest part of the cost of a job.
        batchWindow: Duration.seconds(150),
        // The recount counts what is given up here, so it may be less than the stream's day.
        retries: 200,
        givenUpAfter: Duration.hours(20),
      },
    },
    sweep: {
      id: 'Sweep',
      // A run takes 50 s at most and then ends what it began.
      timeout: Duration.seconds(90),
      callsGitLab: true,
      use: 'sweep',
      variables: {
        [names.ENV_CHARGE_UNKNOWN]: settings.chargeUnknown,
        [names.ENV_CONTROLLER_ID]: controllerId,
      },
      secrets: gitlabToken,
      schedule: { everyMinutes: 1 },
    },
    directory: {
      id: 'DirectorySync',
      // A run asks GitLab for 150 s at most, and writes after that.
      timeout: Duration.seconds(240),
      callsGitLab: true,
      use: 'keepDirectory',
      secrets: {
        ...gitlabToken,
        [names.ENV_HOOK_TOKEN_PARAMETER]: parameters.hookToken,
        // A GitLab that cannot sign gets a secret token.
        [names.ENV_WEBHOOK_SECRETS_PARAMETER]:
          parameters.hookToken && (parameters.webhookTokens ?? parameters.webhookSecrets),
      },
      schedule: { everyMinutes: 5 },
    },
    doctor: {
      id: 'Doctor',
      timeout: Duration.seconds(240),
      callsGitLab: true,
      use: 'examine',
      variables: {
        ...usageZone,
        [names.ENV_CONTROLLER_ID]: controllerId,
        [names.ENV_DESCRIPTORS_VERSION]: gitlab.descriptors.version,
      },
      secrets: gitlabToken,
      schedule: { minute: '41' },
    },
    drift: {
      id: 'DriftCheck',
      // Holds sums of some hundred thousand counters; the CPU reads several segments in parallel.
      memoryMiB: 1769,
      // Lambda's longest. Each run reads the part of the table that is due, and the next run goes on.
      timeout: Duration.minutes(15),
      use: 'recount',
      variables: usageZone,
      schedule: { minute: '8' },
    },
    'ssm-limits': {
      id: 'SsmLimits',
      memoryMiB: 1024,
      // A run begins no import after 200 s, and ends the one it has begun.
      timeout: Duration.seconds(290),
      use: 'takeLimits',
      variables: { [names.ENV_LIMITS_PATH]: limitsPath(settings) },
      // For parameters whose change events were lost.
      schedule: { everyMinutes: 5 },
    },
    requeue: {
      id: 'Requeue',
      timeout: Duration.seconds(90),
      isDeployed: parameters.requeueTokens !== undefined,
      callsGitLab: true,
      use: 'requeue',
      secretPaths: { [names.ENV_REQUEUE_TOKENS_PATH]: parameters.requeueTokens },
      schedule: { everyMinutes: 1 },
    },
    notices: {
      id: 'Notices',
      // 200 messages take ten seconds, the groups of a large instance as long, chats and merge requests twenty each.
      timeout: Duration.seconds(90),
      isDeployed: notices.everyMinutes > 0,
      callsGitLab: parameters.noteTokens !== undefined,
      use: 'notifyOwners',
      notifies: true,
      variables: usageZone,
      secrets: {
        [names.ENV_APPROVAL_KEY_PARAMETER]: console && parameters.approvalKey,
        [names.ENV_CHAT_WEBHOOKS_PARAMETER]: parameters.chatWebhooks,
      },
      secretPaths: { [names.ENV_NOTE_TOKENS_PATH]: parameters.noteTokens },
      schedule: { everyMinutes: notices.everyMinutes || 1 },
    },
    /**
     * Public, because browsers cannot sign AWS requests. Users sign in with GitLab and see their own groups; other callers
     * get the sign-in page, a style sheet and errors.
     */
    console: {
      id: 'Console',
      timeout: Duration.seconds(15),
      // At 100 ms each this is a hundred pages a second. More is a flood, which must not cost more than this.
      concurrencyMax: 10,
      isDeployed: console !== undefined,
      callsGitLab: true,
      use: 'serveConsole',
      notifies: true,
      variables: {
        ...usageZone,
        [names.ENV_SIGNIN_CLIENT_ID]: console?.clientId,
        [names.ENV_SIGNIN_DEVICE_CLIENT_ID]: console?.deviceClientId,
        [names.ENV_ADMIN_GROUP_ID]: console && String(console.adminGroupId),
        [names.ENV_FINANCE_GROUP_ID]: console && String(console.financeGroupId),
        [names.ENV_OWNERS_FROM]: console?.ownersFrom,
        [names.ENV_VIEWERS_FROM]: console?.viewersFrom,
        [names.ENV_TRUSTED_PROXIES]: console?.trustedProxies.join(',') || undefined,
      },
      secrets: {
        [names.ENV_APPROVAL_KEY_PARAMETER]: parameters.approvalKey,
        [names.ENV_SIGNIN_SECRET_PARAMETER]: parameters.signInSecret,
        [names.ENV_GITLAB_TOKEN_PARAMETER]: parameters.consoleToken,
      },
    },
    /**
     * Disarms the controller if no relay sent a heartbeat for two minutes. It is separate from the relay and the admit
     * function, because it serves when they fail. An error here raises an alarm: no relay, and GitLab could not be changed.
     */
    watchdog: {
      id: 'Watchdog',
      memoryMiB: 256,
      // 12 s to read GitLab's state, 5 s to change it, the rest for the table and the page.
      timeout: Duration.seconds(45),
      isDeployed: settings.watchdog && controllerId !== undefined,
      callsGitLab: true,
      variables: {
        [names.ENV_CONTROLLER_ID]: controllerId,
        [names.ENV_DISARM_AFTER_FAILED_JOB]: settings.disarmAfterFailedJob ? 'yes' : undefined,
      },
      secrets: { [names.ENV_CONTROLLER_TOKEN_PARAMETER]: parameters.controllerToken },
      schedule: { everyMinutes: 1 },
    },
  };
}

/** Parameters right below it have limits: `/tollgate/prod/limits`. */
const limitsPath = ({ stage }: Settings): string => `/tollgate/${stage}/limits`;

export type Programs = ReturnType<typeof addPrograms>;

export function addPrograms(scope: Construct, props: ProgramsProps) {
  const { settings, ledger, decisionExport } = props;
  const all: Partial<Record<ProgramName, NodeLambda>> = {};
  const deadLetters: Record<string, Queue> = {};
  const rows = programRows(settings, decisionExport !== undefined);
  for (const [name, row] of Object.entries(rows) as [ProgramName, ProgramRow][]) {
    if (row.isDeployed === false) continue;
    const place = new Construct(scope, row.id);
    const program = addProgram(place, name, row, props);
    all[name] = program;
    if (row.stream !== undefined) deadLetters[name] = consumeStream(place, name, row.stream, program, props);
  }
  const { admit, settle, rollup, sweep, directory, doctor, console, watchdog } = all;
  if (admit === undefined || settle === undefined) throw new Error('admit and settle are always deployed');
  const { url } = settle.fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
  const webhookUrl = `${url}${names.WEBHOOK_PATH.slice(1)}`;
  for (const program of [directory, doctor]) program?.fn.addEnvironment(names.ENV_WEBHOOK_URL, webhookUrl);
  const consoleUrl = console?.fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
  if (rollup !== undefined) decisionExport?.grantPut(rollup);
  if (sweep !== undefined) ledger.grantDueJobs(sweep);
  if (all['ssm-limits'] !== undefined) grantLimitParameters(all['ssm-limits'], settings);
  if (watchdog !== undefined) grantWatchdog(watchdog, props);
  return {
    ...{ all, admit, deadLetters },
    /** Begins the addresses of webhooks: the number of the top-level group follows. */
    webhookUrl,
    /** Ends with "/". Browsers come by `console.url` of the settings: this address or a domain in front of it. */
    consoleUrl,
  };
}

function addProgram(place: Construct, name: ProgramName, row: ProgramRow, props: ProgramsProps): NodeLambda {
  const { settings, ledger, thresholds, network, bundlesPath } = props;
  const { callsGitLab = false, schedule } = row;
  const program = new NodeLambda(place, 'Program', {
    settings,
    bundlesPath,
    name,
    memoryMiB: row.memoryMiB ?? 512,
    timeout: row.timeout,
    concurrencyMax: schedule === undefined ? row.concurrencyMax : 1,
    network: callsGitLab && settings.gitlab.reachedFrom === 'vpc' ? network : undefined,
  });
  for (const [variable, value] of given(row.variables)) program.fn.addEnvironment(variable, value);
  if (row.use !== undefined) ledger.grant(program, row.use);
  if (row.notifies) thresholds.grantPublish(program);
  if (callsGitLab) grantGitLabRoute(program, settings);
  for (const [variable, secret] of given(row.secrets)) grantSecret(program, variable, secret, settings);
  for (const [variable, path] of given(row.secretPaths))
    grantSecret(program, variable, path, settings, `${path}/*`);
  if (schedule !== undefined) {
    // By default Lambda keeps starts that it could not make for six hours, and then makes them all.
    const lateAtMost = 'minute' in schedule ? 10 : Math.min(schedule.everyMinutes, 360);
    const attempts = { maxEventAge: Duration.minutes(lateAtMost), retryAttempts: 0 };
    program.fn.configureAsyncInvoke(attempts);
    new Rule(place, 'Schedule', {
      ruleName: `tollgate-${settings.stage}-${name}`,
      schedule:
        'minute' in schedule
          ? Schedule.cron(schedule)
          : Schedule.rate(Duration.minutes(schedule.everyMinutes)),
      targets: [new LambdaFunction(program.fn, attempts)],
    });
  }
  return program;
}

const given = (variables: Variables = {}): readonly [string, string][] =>
  Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** Limits are no secrets: there is no right to decrypt anything. A change starts the program. */
function grantLimitParameters(program: NodeLambda, settings: Settings): void {
  const path = limitsPath(settings);
  const below = arnHere(program, 'ssm', `parameter${path}/*`);
  program.allow(['ssm:GetParametersByPath'], [arnHere(program, 'ssm', `parameter${path}`), below]);
  program.allow(['ssm:GetParameterHistory'], [below]);
  new Rule(program, 'OnChange', {
    ruleName: `tollgate-${settings.stage}-ssm-limits-changed`,
    eventPattern: {
      source: ['aws.ssm'],
      detailType: ['Parameter Store Change'],
      detail: { name: Match.prefix(`${path}/`), operation: ['Create', 'Update', 'Delete'] },
    },
    targets: [new LambdaFunction(program.fn, { maxEventAge: Duration.minutes(5), retryAttempts: 0 })],
  });
}

/** Lets the watchdog read heartbeats, keep its own item and page on-call. The rest of the table is closed to it. */
function grantWatchdog(program: NodeLambda, { settings, ledger: { table }, operators }: ProgramsProps): void {
  program.fn.addEnvironment(names.ENV_LEDGER_TABLE, table.tableName);
  program.fn.addEnvironment(names.ENV_PAGE_TOPIC, operators.topic.topicArn);
  for (const statement of publishTo(program, operators.topic)) program.role.addToPolicy(statement);
  const allow = (actions: readonly string[], suffix: string): void =>
    program.allow(actions, [table.tableArn], {
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [`${settings.gitlab.instance}${suffix}`] },
    });
  allow(['dynamodb:Query'], names.HEARTBEAT_PK_SUFFIX);
  allow(['dynamodb:GetItem', 'dynamodb:PutItem'], names.WATCHDOG_PK_SUFFIX);
  if (settings.disarmAfterFailedJob) allow(['dynamodb:GetItem'], names.YET_FAILED_PK_SUFFIX);
  for (const statement of tableKeyStatements(program, table.encryptionKey))
    program.role.addToPolicy(statement);
}
