import { Duration } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import {
  ENV_WEBHOOK_SECRETS_PARAMETER,
  ENV_WEBHOOK_TOKENS_PARAMETER,
  WEBHOOK_PATH,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import { webhooksAtOnce } from '../settings/webhooks-at-once.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { grantSecret } from './secret-parameter.ts';

interface SettleEndpointProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly bundlesPath: string;
}

/** One small write; the memory is for the cold start, since GitLab waits 10 s and never asks again. */
const MEMORY_MIB = 256;
const TIMEOUT = Duration.seconds(10);

/**
 * Endpoint of GitLab's job webhooks. Public, because GitLab cannot sign AWS requests: the program checks
 * GitLab's signature before it reads the body, refuses more than 1 MiB, and may only add items to the table.
 */
export class SettleEndpoint extends Construct {
  readonly program: NodeLambda;
  /** Begins the addresses of webhooks: the number of the top-level group follows. */
  readonly webhookUrl: string;

  constructor(scope: Construct, id: string, { settings, ledger, bundlesPath }: SettleEndpointProps) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'settle',
      description: 'Takes the job webhooks of GitLab',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Kept for them, so that nothing else takes it; and no more, so that a flood costs no more.
      reservedConcurrency: webhooksAtOnce(settings.webhooks.jobsPerSecond),
    });
    ledger.grant(this.program, 'receive');
    const { webhookSecrets, webhookTokens } = settings.parameters;
    grantSecret(this.program, ENV_WEBHOOK_SECRETS_PARAMETER, webhookSecrets, settings);
    if (webhookTokens !== undefined) {
      grantSecret(this.program, ENV_WEBHOOK_TOKENS_PARAMETER, webhookTokens, settings);
    }
    const { url } = this.program.fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    // The URL ends with "/".
    this.webhookUrl = `${url}${WEBHOOK_PATH.slice(1)}`;
  }
}
