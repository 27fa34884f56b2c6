import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import {
  ENV_CONTROLLER_ID,
  ENV_DESCRIPTORS_VERSION,
  ENV_ROLLUP_ZONE,
  ENV_WEBHOOK_URL,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantGitLabToken } from './secret-parameter.ts';

interface DoctorProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
  /** Where top-level groups send their job events. */
  readonly webhookUrl: string;
}

const MEMORY_MIB = 512;
/** Two minutes for webhooks of groups; the rest is a few calls that may be tried again. */
const TIMEOUT = Duration.seconds(240);
/** Away from the full hour, when everybody's schedules start. */
const AT = Schedule.cron({ minute: '41' });

/** Looks every hour whether all of the deployment holds, GitLab's side included. It changes nothing. */
export class Doctor extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, props: DoctorProps) {
    super(scope, id);
    const { settings, ledger, network, bundlesPath, webhookUrl } = props;
    const { controllerId, descriptors } = settings.gitlab;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'doctor',
      description: 'Looks whether all of the deployment holds',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      reservedConcurrency: 1,
      environment: {
        [ENV_WEBHOOK_URL]: webhookUrl,
        [ENV_ROLLUP_ZONE]: settings.usageZone,
        ...(controllerId !== undefined && { [ENV_CONTROLLER_ID]: String(controllerId) }),
        ...(descriptors.version !== undefined && { [ENV_DESCRIPTORS_VERSION]: descriptors.version }),
      },
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'examine');
    grantGitLabRoute(this.program, settings);
    grantGitLabToken(this.program, settings);
    new ScheduledProgram(this, 'Hourly', {
      settings,
      program: this.program,
      name: 'doctor',
      schedule: AT,
      lateAtMost: Duration.minutes(30),
      retries: 1,
    });
  }
}
