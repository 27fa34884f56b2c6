import { Duration } from 'aws-cdk-lib';
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import {
  ENV_ADMIN_GROUP_ID,
  ENV_APPROVAL_KEY_PARAMETER,
  ENV_CONSOLE_URL,
  ENV_FINANCE_GROUP_ID,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_OWNERS_FROM,
  ENV_ROLLUP_ZONE,
  ENV_SIGNIN_CLIENT_ID,
  ENV_SIGNIN_DEVICE_CLIENT_ID,
  ENV_SIGNIN_SECRET_PARAMETER,
  ENV_TRUSTED_PROXIES,
  ENV_VIEWERS_FROM,
} from '../../functions/names.ts';
import type { ConsoleSettings, Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { grantGitLabRoute, grantSecret } from './secret-parameter.ts';
import type { ThresholdsTopic } from './thresholds-topic.ts';

interface ConsoleProps {
  readonly settings: Settings;
  readonly console: ConsoleSettings;
  readonly ledger: LedgerTable;
  /** Where a report is sent to an owner. */
  readonly thresholds: ThresholdsTopic;
  /** Used where GitLab is reached from inside only. */
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly bundlesPath: string;
}

/** All groups and limits at once, and enough of a CPU for the first page after a while. */
const MEMORY_MIB = 512;
/** A page takes a second; the roles may wait 6 s for GitLab. */
const TIMEOUT = Duration.seconds(15);
/** At 100 ms each this is a hundred pages a second; more can only be a flood, which must not cost more than this. */
const AT_ONCE_MAX = 10;

/**
 * Where people read and change limits. Public, because browsers cannot sign for AWS: signing in with GitLab is the door, and
 * behind it everybody sees their own groups. Strangers get a sign-in, a style sheet, and refusals.
 *
 * It reads everything and writes limits, who is signed in, and that an owner was told; not even a fault in it could change
 * the books.
 */
export class Console extends Construct {
  readonly program: NodeLambda;
  /** Ends with "/". Browsers come by `console.url` of the settings: this address or a domain in front of it. */
  readonly functionUrl: string;

  constructor(scope: Construct, id: string, props: ConsoleProps) {
    super(scope, id);
    const { settings, ledger, thresholds, network, bundlesPath } = props;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'console',
      description: 'Shows and changes limits, for people',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      reservedConcurrency: AT_ONCE_MAX,
      environment: {
        [ENV_ROLLUP_ZONE]: settings.usageZone,
        ...signInVariables(props.console),
      },
      ...(settings.gitlab.reachedFrom === 'vpc' && { network }),
    });
    ledger.grant(this.program, 'serveConsole');
    thresholds.grantPublish(this.program);
    const { signInSecret, consoleToken, approvalKey } = settings.parameters;
    if (approvalKey !== undefined)
      grantSecret(this.program, ENV_APPROVAL_KEY_PARAMETER, approvalKey, settings);
    grantGitLabRoute(this.program, settings);
    grantSecret(this.program, ENV_SIGNIN_SECRET_PARAMETER, signInSecret, settings);
    grantSecret(this.program, ENV_GITLAB_TOKEN_PARAMETER, consoleToken, settings);
    this.functionUrl = this.program.fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
  }
}

const signInVariables = (console: ConsoleSettings): Readonly<Record<string, string>> => ({
  [ENV_CONSOLE_URL]: console.url,
  [ENV_SIGNIN_CLIENT_ID]: console.clientId,
  ...(console.deviceClientId !== undefined && { [ENV_SIGNIN_DEVICE_CLIENT_ID]: console.deviceClientId }),
  [ENV_ADMIN_GROUP_ID]: String(console.adminGroupId),
  [ENV_FINANCE_GROUP_ID]: String(console.financeGroupId),
  [ENV_OWNERS_FROM]: console.ownersFrom,
  [ENV_VIEWERS_FROM]: console.viewersFrom,
  ...(console.trustedProxies.length > 0 && { [ENV_TRUSTED_PROXIES]: console.trustedProxies.join(',') }),
});
