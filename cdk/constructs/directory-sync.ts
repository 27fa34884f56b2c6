import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import {
  ENV_HOOK_TOKEN_PARAMETER,
  ENV_WEBHOOK_SECRETS_PARAMETER,
  ENV_WEBHOOK_URL,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';
import { grantGitLabRoute, grantGitLabToken, grantSecret } from './secret-parameter.ts';

interface DirectorySyncProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
  /** Where top-level groups send their job events. */
  readonly webhookUrl: string;
}

/** Tens of thousands of groups and projects at once. */
const MEMORY_MIB = 512;
/** A run asks GitLab for 150 s at most, and writes after that. */
const TIMEOUT = Duration.seconds(240);
const EVERY = Duration.minutes(5);

/** Learns from GitLab which groups and projects there are and where they stand. */
export class DirectorySync extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, props: DirectorySyncProps) {
    super(scope, id);
    const { settings, ledger, network, bundlesPath, webhookUrl } = props;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'directory',
      description: 'Learns the groups and projects of GitLab',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Two at once would ask GitLab everything twice.
      reservedConcurrency: 1,
      environment: { [ENV_WEBHOOK_URL]: webhookUrl },
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'keepDirectory');
    grantGitLabRoute(this.program, settings);
    grantGitLabToken(this.program, settings);
    const { hookToken, webhookSecrets, webhookTokens } = settings.parameters;
    if (hookToken !== undefined) {
      grantSecret(this.program, ENV_HOOK_TOKEN_PARAMETER, hookToken, settings);
      // A GitLab that cannot sign gets a secret token.
      grantSecret(this.program, ENV_WEBHOOK_SECRETS_PARAMETER, webhookTokens ?? webhookSecrets, settings);
    }
    new ScheduledProgram(this, 'EveryFiveMinutes', {
      settings,
      program: this.program,
      name: 'directory',
      schedule: Schedule.rate(EVERY),
      // The next run does everything that this one did not.
      lateAtMost: EVERY,
      retries: 0,
    });
  }
}
