import { ArnFormat, ReferenceStrength, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { functionName, LIVE, operatorsTopicName } from './constructs/names.ts';
import { RelayNetwork } from './constructs/network.ts';
import { RelayService } from './constructs/relay-service.ts';
import { arnHere } from './constructs/statements.ts';
import { alertOnFailedDeployments } from './constructs/topics.ts';
import type { FunctionsStack } from './functions-stack.ts';
import { addSilenceAlarms } from './monitoring/monitoring.ts';
import type { DeploymentProps } from './settings/deployment.ts';
import type { StateStack } from './state-stack.ts';

/** The relays, with the alarms that silence sets off: made after the relays, or a first deployment would page. */
export class RelaysStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    {
      settings,
      bundlesPath,
      state,
      functions,
      ...props
    }: StackProps & DeploymentProps & { readonly state: StateStack; readonly functions: FunctionsStack },
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: relays`,
      // GitLab fails every job of an enabled controller without a relay: `npm run destroy` asks first, then lifts this.
      terminationProtection: true,
    });
    // A relay that starts without admit decides by itself.
    this.addStackDependency(functions);
    const { stage, alarms } = settings;
    const admit = {
      arn: arnHere(this, 'lambda', 'function', {
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        resourceName: `${functionName(stage, 'admit')}:${LIVE}`,
      }),
      // Weak, or the functions could not take their URL away while relays are there.
      ...(functions.admitUrl !== undefined && {
        url: Stack.consumeReference(functions.admitUrl, ReferenceStrength.WEAK),
      }),
    };
    const relay = new RelayService(this, 'Relay', {
      ...{ settings, bundlesPath, admit, network: new RelayNetwork(this, 'Network', settings.vpc) },
      ...{ table: state.ledger.table, logGroup: state.decisionLog },
    });
    const topicArn = arnHere(this, 'sns', operatorsTopicName(stage));
    alertOnFailedDeployments(this, settings, relay.service, topicArn);
    addSilenceAlarms(this, { settings, state, topicArns: [topicArn, ...alarms.topicArns] }, relay.service);
  }
}
