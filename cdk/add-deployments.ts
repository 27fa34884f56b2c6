import { Annotations, type App, Tags } from 'aws-cdk-lib';
import { FunctionsStack } from './functions-stack.ts';
import { RelaysStack } from './relays-stack.ts';
import { type Settings, stackNames } from './settings/deployment.ts';
import { StateStack } from './state-stack.ts';

const EXAMPLE_HOST = /(?:^|\.)example\.(?:com|net|org)$/;

/**
 * Makes three stacks for each deployment: relays need functions, functions need the state, and none needs one after it.
 * `cdk.json` makes references strong: the state cannot be deleted under running functions.
 */
export function addDeployments(app: App, deployments: readonly Settings[], bundlesPath: string) {
  for (const settings of deployments) {
    const { stage, account, region, gitlab } = settings;
    const props = {
      ...{ settings, bundlesPath },
      // Templates without both fit any account and region, and synth asks none.
      env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
    };
    const [stateName, functionsName, relaysName] = stackNames(stage);
    const state = new StateStack(app, stateName, props);
    const functions = new FunctionsStack(app, functionsName, { ...props, state });
    const relays = new RelaysStack(app, relaysName, { ...props, state, functions });
    for (const stack of [state, functions, relays]) {
      Tags.of(stack).add('tollgate:stage', stage);
      if (EXAMPLE_HOST.test(new URL(gitlab.url).hostname)) {
        const remedy = 'set gitlab.url in cdk/tollgate.config.ts before you deploy';
        Annotations.of(stack).addWarningV2('tollgate:exampleHost', `${gitlab.url} is an example: ${remedy}`);
      }
    }
  }
}
