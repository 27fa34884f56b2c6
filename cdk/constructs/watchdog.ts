import { Duration, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import * as names from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantSecret } from './secret-parameter.ts';
import { tableKeyStatements } from './table-key.ts';

interface WatchdogProps {
  readonly settings: Settings;
  readonly table: ITable;
  /** Number of the runner controller in GitLab. */
  readonly controllerId: number;
  /** SSM SecureString with an administrator's token of scope `api`. */
  readonly controllerTokenParameter: string;
  /** Pages whoever is on call. */
  readonly topic: ITopic;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
}

const MEMORY_MIB = 256;
/** GitLab has 12 s to tell the state and 5 s to change it; the rest is for the table and the page. */
const TIMEOUT = Duration.seconds(45);
const EVERY = Duration.minutes(1);

/**
 * Disarms the controller when no relay has been heard for two minutes. Outside of the relay and of the admit function, since
 * it is there for the day they are not. Its errors deserve an alarm: no relay, and GitLab could not be told.
 */
export class Watchdog extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, props: WatchdogProps) {
    super(scope, id);
    const { settings, table, topic, network } = props;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath: props.bundlesPath,
      name: 'watchdog',
      description: 'Sets the controller to dry_run when no relay is heard',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Two at once would page twice.
      reservedConcurrency: 1,
      environment: {
        [names.ENV_LEDGER_TABLE]: table.tableName,
        [names.ENV_CONTROLLER_ID]: String(props.controllerId),
        [names.ENV_PAGE_TOPIC]: topic.topicArn,
        ...(settings.disarmAfterFailedJob && { [names.ENV_DISARM_AFTER_FAILED_JOB]: 'yes' }),
      },
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    this.#allowOwnItems(props);
    this.#allowPage(topic);
    grantGitLabRoute(this.program, settings);
    const { ENV_CONTROLLER_TOKEN_PARAMETER } = names;
    grantSecret(this.program, ENV_CONTROLLER_TOKEN_PARAMETER, props.controllerTokenParameter, settings);
    new ScheduledProgram(this, 'EveryMinute', {
      settings,
      program: this.program,
      name: 'watchdog',
      schedule: Schedule.rate(EVERY),
      // The next minute's look is the retry.
      lateAtMost: EVERY,
      retries: 0,
    });
  }

  /** The topic's key, too, by way of SNS only. */
  #allowPage({ topicArn, masterKey }: ITopic): void {
    this.program.allow(['sns:Publish'], [topicArn]);
    if (masterKey === undefined) return;
    this.program.allow(['kms:Decrypt', 'kms:GenerateDataKey'], [masterKey.keyArn], {
      StringEquals: { 'kms:ViaService': `sns.${Stack.of(this).region}.amazonaws.com` },
    });
  }

  /** Reads the heartbeats and keeps its own mark; the books are closed to it. */
  #allowOwnItems({ table, settings }: WatchdogProps): void {
    const { instance } = settings.gitlab;
    const leading = (suffix: string) => ({
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [`${instance}${suffix}`] },
    });
    const tables = [table.tableArn];
    this.program.allow(['dynamodb:Query'], tables, leading(names.HEARTBEAT_PK_SUFFIX));
    this.program.allow(['dynamodb:GetItem', 'dynamodb:PutItem'], tables, leading(names.WATCHDOG_PK_SUFFIX));
    if (settings.disarmAfterFailedJob)
      this.program.allow(['dynamodb:GetItem'], tables, leading(names.YET_FAILED_PK_SUFFIX));
    for (const statement of tableKeyStatements(this, table.encryptionKey))
      this.program.role.addToPolicy(statement);
  }
}
