import { Duration } from 'aws-cdk-lib';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as names from '../../functions/names.ts';
import type { ProgramName } from '../monitoring/series.ts';
import type { DeploymentProps, Settings } from '../settings/deployment.ts';
import type { DecisionExport } from './decision-export.ts';
import { addressOf } from './edge.ts';
import { type LedgerTable, tableKeyStatements } from './ledger-table.ts';
import { liveAlias } from './live-alias.ts';
import { deadLettersName, functionName } from './names.ts';
import type { RelayNetwork } from './network.ts';
import { grantGitLabRoute, grantSecret, NodeLambda } from './node-lambda.ts';
import {
  concurrencyOf,
  type KeyPattern,
  limitsPath,
  type ProgramRow,
  programRows,
  type StreamReading,
  type Variables,
} from './program-rows.ts';
import { arnHere, publishTo } from './statements.ts';
import type { OperatorsTopic, ThresholdsTopic } from './topics.ts';

export interface ProgramsProps extends DeploymentProps {
  readonly ledger: LedgerTable;
  readonly decisionExport: DecisionExport;
  readonly webhookUrl: string;
  readonly thresholds: ThresholdsTopic;
  readonly operators: OperatorsTopic;
  /** Programs that call GitLab run here if GitLab is reached from inside only. */
  readonly network: RelayNetwork | undefined;
}

/** The program that lives with the table. @returns its address */
export function addReceiver(
  scope: Construct,
  props: DeploymentProps & { readonly ledger: LedgerTable },
): string {
  const { settle } = programRows(props.settings);
  const program = addProgram(new Construct(scope, settle.id), 'settle', settle, props);
  const alias = liveAlias(program, 'settle', props.settings);
  const domain = props.settings.edge?.webhooksDomain ?? '';
  return addressOf(program, { name: 'settle', alias, domain }, props.settings);
}

export const webhookUrlAt = (receiverUrl: string): string => `${receiverUrl}${names.WEBHOOK_PATH.slice(1)}`;

/** All other programs. */
export function addPrograms(scope: Construct, props: ProgramsProps) {
  const { settings, ledger, decisionExport, webhookUrl } = props;
  const all: Partial<Record<ProgramName, NodeLambda>> = {};
  const { settle: _, ...rows } = programRows(settings);
  for (const [name, row] of Object.entries(rows) as [ProgramName, ProgramRow][]) {
    if (row.isDeployed === false) continue;
    const place = new Construct(scope, row.id);
    const program = addProgram(place, name, row, props);
    all[name] = program;
    if (row.stream !== undefined) consumeStream(place, name, row.stream, program, { settings, ledger });
  }
  const { admit, rollup, sweep, directory, doctor, console, watchdog } = all;
  if (admit === undefined) throw new Error('admit is always deployed');
  for (const program of [directory, doctor]) program?.fn.addEnvironment(names.ENV_WEBHOOK_URL, webhookUrl);
  const consoleUrl =
    console &&
    addressOf(
      console,
      {
        ...{ name: 'console', alias: liveAlias(console, 'console', settings) },
        domain: new URL(settings.console?.url ?? '').hostname,
      },
      settings,
    );
  if (rollup !== undefined && settings.state.exportDays > 0) decisionExport.grantPut(rollup);
  if (sweep !== undefined) ledger.grantDueJobs(sweep);
  if (all['ssm-limits'] !== undefined) grantLimitParameters(all['ssm-limits'], settings);
  if (watchdog !== undefined) grantWatchdog(watchdog, settings, ledger, props.operators);
  return {
    admit: liveAlias(admit, 'admit', settings),
    /** Ends with "/". Browsers come by `console.url` of the settings: this address or a domain in front of it. */
    consoleUrl,
  };
}

type ProgramProps = DeploymentProps & { readonly ledger: LedgerTable } & Partial<
    Pick<ProgramsProps, 'thresholds' | 'network'>
  >;

function addProgram(place: Construct, name: ProgramName, row: ProgramRow, props: ProgramProps): NodeLambda {
  const { settings, ledger, thresholds, network, bundlesPath } = props;
  const { callsGitLab = false, schedule } = row;
  const program = new NodeLambda(place, 'Program', {
    settings,
    bundlesPath,
    name,
    memoryMiB: row.memoryMiB ?? 512,
    timeout: Duration.seconds(row.timeoutSeconds),
    concurrencyMax: concurrencyOf(row),
    network: callsGitLab ? network : undefined,
    readsRules: row.readsRules ?? true,
  });
  for (const [variable, value] of given(row.variables)) program.fn.addEnvironment(variable, value);
  if (row.use !== undefined) ledger.grant(program, row.use);
  if (row.notifies) thresholds?.grantPublish(program);
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
      ruleName: functionName(settings.stage, name),
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
function grantWatchdog(
  program: NodeLambda,
  settings: Settings,
  { table }: LedgerTable,
  operators: OperatorsTopic,
): void {
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

/** SQS keeps messages for 14 days at most: a holiday of two weeks is not too late. */
const DEAD_LETTERS_KEPT = Duration.days(14);

/** Reads in order for each key, at least once. Halves a batch that fails. A queue keeps the positions that were given up. */
function consumeStream(
  scope: Construct,
  name: string,
  stream: StreamReading,
  program: NodeLambda,
  { settings, ledger }: { readonly settings: Settings; readonly ledger: LedgerTable },
): void {
  const place = new Construct(scope, 'Consumer');
  const deadLetters = new Queue(place, 'DeadLetters', {
    queueName: deadLettersName(settings.stage, name),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: DEAD_LETTERS_KEPT,
  });
  const filter = (key: string, patterns: readonly KeyPattern[]) =>
    FilterCriteria.filter({ eventName: stream.events, dynamodb: { Keys: { [key]: { S: patterns } } } });
  new EventSourceMapping(place, 'Source', {
    target: program.fn,
    eventSourceArn: ledger.grantStream(program),
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize: stream.batchSize,
    maxBatchingWindow: Duration.seconds(stream.batchSeconds),
    // One batch of a shard at a time: several would only meet on the same counters.
    parallelizationFactor: 1,
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: stream.retries,
    maxRecordAge: Duration.hours(stream.giveUpAfterHours),
    filters: [
      filter(names.SK, stream.sortKeys),
      ...(stream.partitions ? [filter(names.PK, stream.partitions)] : []),
    ],
    onFailure: new SqsDlq(deadLetters),
  });
}
