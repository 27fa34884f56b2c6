import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { ENV_CHARGE_UNKNOWN, ENV_CONTROLLER_ID } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantGitLabToken } from './secret-parameter.ts';

interface SweepProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
}

/** Thousands of live holds and GitLab's pages about them; most of a run is waiting. */
const MEMORY_MIB = 512;
/** A run takes 50 s at most and then ends what it began. */
const TIMEOUT = Duration.seconds(90);
const EVERY = Duration.minutes(1);

/** Asks GitLab every minute what became of the live holds: lost webhooks, leaked holds, bypass. */
export class Sweep extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, { settings, ledger, network, bundlesPath }: SweepProps) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'sweep',
      description: 'Compares live holds with the jobs of GitLab',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Two at once would ask GitLab everything twice.
      reservedConcurrency: 1,
      environment: {
        [ENV_CHARGE_UNKNOWN]: settings.chargeUnknown,
        ...(settings.gitlab.controllerId !== undefined && {
          [ENV_CONTROLLER_ID]: String(settings.gitlab.controllerId),
        }),
      },
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'sweep');
    ledger.grantDueJobs(this.program);
    grantGitLabRoute(this.program, settings);
    grantGitLabToken(this.program, settings);
    new ScheduledProgram(this, 'EveryMinute', {
      settings,
      program: this.program,
      name: 'sweep',
      schedule: Schedule.rate(EVERY),
      // The next minute's run does everything that this one did not.
      lateAtMost: EVERY,
      retries: 0,
    });
  }
}
