import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import {
  ENV_APPROVAL_KEY_PARAMETER,
  ENV_CHAT_WEBHOOKS_PARAMETER,
  ENV_NOTE_TOKENS_PATH,
  ENV_ROLLUP_ZONE,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantGroupTokens, grantSecret } from './secret-parameter.ts';
import type { ThresholdsTopic } from './thresholds-topic.ts';

interface NoticesProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly thresholds: ThresholdsTopic;
  /** Used where notes are written in merge requests, and GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
  /** Minutes between two looks. */
  readonly everyMinutes: number;
}

/** All limits and groups at once, where something happened. */
const MEMORY_MIB = 512;
/** Two hundred messages take ten seconds, the groups of a large instance as long, chats and merge requests twenty each. */
const TIMEOUT = Duration.seconds(90);

/** Tells owners of limits what happened since it last looked, one message each. Reads everything, writes how far it has told. */
export class Notices extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, props: NoticesProps) {
    super(scope, id);
    const { settings, ledger, thresholds, network, bundlesPath, everyMinutes } = props;
    const { chatWebhooks, approvalKey, noteTokens } = settings.parameters;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'notices',
      description: 'Tells owners of limits what happened',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Two at once would tell everything twice.
      reservedConcurrency: 1,
      environment: { [ENV_ROLLUP_ZONE]: settings.usageZone },
      ...(noteTokens !== undefined && settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'tellOwners');
    thresholds.grantPublish(this.program);
    if (approvalKey !== undefined && settings.console !== undefined)
      grantSecret(this.program, ENV_APPROVAL_KEY_PARAMETER, approvalKey, settings);
    if (chatWebhooks !== undefined)
      grantSecret(this.program, ENV_CHAT_WEBHOOKS_PARAMETER, chatWebhooks, settings);
    if (noteTokens !== undefined) {
      grantGroupTokens(this.program, ENV_NOTE_TOKENS_PATH, noteTokens, settings);
      grantGitLabRoute(this.program, settings);
    }
    new ScheduledProgram(this, 'Schedule', {
      settings,
      program: this.program,
      name: 'notices',
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      // The next run tells everything that this one did not.
      lateAtMost: Duration.minutes(Math.min(everyMinutes, LATE_MINUTES_MAX)),
      retries: 0,
    });
  }
}

/** Lambda keeps a start no longer. */
const LATE_MINUTES_MAX = 360;
