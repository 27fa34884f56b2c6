import { Duration } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ENV_CONSOLE_URL } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import type { RelayAdmitRoute } from './relay-service-props.ts';

interface AdmitFunctionProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly bundlesPath: string;
}

/** A batch takes 20 ms. The memory buys CPU for the cold start, which delays an admission request. */
const MEMORY_MIB = 512;
/** A relay waits at most 10 s; later work is useless. */
const TIMEOUT = Duration.seconds(11);

/** Decides. Its Function URL takes signed calls only; without one it is reached by Lambda's own API. */
export class AdmitFunction extends Construct {
  readonly program: NodeLambda;
  /** Route to the admit function. It grants the relay's role the rights for it. */
  readonly target: RelayAdmitRoute;

  constructor(scope: Construct, id: string, { settings, ledger, bundlesPath }: AdmitFunctionProps) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'admit',
      description: 'Decides whether jobs may start',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
    });
    ledger.grant(this.program, 'decide');
    const { fn } = this.program;
    // Rejections lead to the page that explains them.
    if (settings.console !== undefined) fn.addEnvironment(ENV_CONSOLE_URL, settings.console.url);
    this.target =
      settings.admitRoute === 'invoke'
        ? { route: 'invoke', fn }
        : { route: 'url', fn, url: fn.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM }).url };
  }
}
