import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { ENV_REQUEUE_TOKENS_PATH } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantGroupTokens } from './secret-parameter.ts';

interface RequeueProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
  /** SSM parameters below it are the tokens of groups that agreed: `<path>/101`. */
  readonly tokensPath: string;
}

/** The limits and the directory are read as the sweep reads them. */
const MEMORY_MIB = 512;
/** Twelve retries of five seconds each, and reading before them. */
const TIMEOUT = Duration.seconds(90);
const EVERY = Duration.minutes(1);

/** Retries jobs that were rejected for lack of slots, with the tokens of the groups that agreed to it. */
export class RequeueProgram extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, props: RequeueProps) {
    super(scope, id);
    const { settings, ledger, network, bundlesPath, tokensPath } = props;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'requeue',
      description: 'Retries jobs that were rejected for lack of slots',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Two at once would ask GitLab for the same retries.
      reservedConcurrency: 1,
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'requeue');
    grantGitLabRoute(this.program, settings);
    grantGroupTokens(this.program, ENV_REQUEUE_TOKENS_PATH, tokensPath, settings);
    new ScheduledProgram(this, 'EveryMinute', {
      settings,
      program: this.program,
      name: 'requeue',
      schedule: Schedule.rate(EVERY),
      // The next minute's run does everything that this one did not.
      lateAtMost: EVERY,
      retries: 0,
    });
  }
}
