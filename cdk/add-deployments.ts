import { Annotations, type App, Tags } from 'aws-cdk-lib';
import { ServiceStack } from './service-stack.ts';
import type { Settings } from './settings/deployment.ts';
import { StateStack } from './state-stack.ts';

const EXAMPLE_HOST = /(?:^|\.)example\.(?:com|net|org)$/;

/** Makes two stacks for each deployment. `cdk.json` makes references strong: the state cannot be deleted under a running service. */
export function addDeployments(app: App, deployments: readonly Settings[], bundlesPath: string) {
  for (const settings of deployments) {
    const { stage, account, region, gitlab } = settings;
    const props = {
      settings,
      // Templates without both fit any account and region, and synth asks none.
      env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
    };
    const state = new StateStack(app, `Tollgate-${stage}-State`, props);
    const service = new ServiceStack(app, `Tollgate-${stage}-Service`, {
      ...props,
      ledger: state.ledger,
      decisionExport: settings.state.exportDays === 0 ? undefined : state.decisionExport,
      bundlesPath,
    });
    for (const stack of [state, service]) {
      Tags.of(stack).add('tollgate:stage', stage);
      if (EXAMPLE_HOST.test(new URL(gitlab.url).hostname)) {
        const remedy = 'set gitlab.url in cdk/tollgate.config.ts before you deploy';
        Annotations.of(stack).addWarningV2('tollgate:exampleHost', `${gitlab.url} is an example: ${remedy}`);
      }
    }
  }
}
