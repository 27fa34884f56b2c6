import { Duration } from 'aws-cdk-lib';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as names from '../../functions/names.ts';
import type { ProgramName } from '../monitoring/series.ts';
import type { Settings } from '../settings/deployment.ts';
import type { DecisionExport } from './decision-export.ts';
import { type LedgerTable, tableKeyStatements } from './ledger-table.ts';
import { arnHere, grantGitLabRoute, grantSecret, NodeLambda, type NodeLambdaProps } from './node-lambda.ts';
import { concurrencyOf, limitsPath, type ProgramRow, programRows, type Variables } from './program-rows.ts';
import { publishTo } from './statements.ts';
import { consumeStream } from './stream-consumer.ts';
import type { OperatorsTopic, ThresholdsTopic } from './topics.ts';

export interface ProgramsProps extends Pick<NodeLambdaProps, 'settings' | 'bundlesPath'> {
  readonly ledger: LedgerTable;
  readonly thresholds: ThresholdsTopic;
  readonly operators: OperatorsTopic;
  readonly decisionExport: DecisionExport | undefined;
  /** Programs that call GitLab run here if GitLab is reached from inside only. */
  readonly network: NonNullable<NodeLambdaProps['network']>;
}

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
    timeout: Duration.seconds(row.timeoutSeconds),
    concurrencyMax: concurrencyOf(row),
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
