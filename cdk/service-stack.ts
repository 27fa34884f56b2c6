import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { RelayNetwork } from './constructs/network.ts';
import { addPrograms, type ProgramsProps } from './constructs/programs.ts';
import { RelayService } from './constructs/relay-service.ts';
import { alertOnFailedDeployments, OperatorsTopic, ThresholdsTopic } from './constructs/topics.ts';
import { addMonitoring } from './monitoring/monitoring.ts';

type ServiceStackProps = StackProps &
  Pick<ProgramsProps, 'settings' | 'ledger' | 'decisionExport' | 'bundlesPath'>;

/** Everything that runs. It keeps nothing: it can be destroyed and deployed again on the same table. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { settings, ledger, decisionExport, bundlesPath, ...stackProps }: ServiceStackProps,
  ) {
    super(scope, id, {
      ...stackProps,
      description: `Tollgate ${settings.stage}: relay and functions`,
      // GitLab fails every job of an enabled controller without a relay: `npm run destroy` asks first, then lifts this.
      terminationProtection: true,
    });
    const network = new RelayNetwork(this, 'Network', settings.vpc);
    const operators = new OperatorsTopic(this, 'Operators', settings);
    const thresholds = new ThresholdsTopic(this, 'Thresholds', settings);
    const props = { settings, ledger, thresholds, operators, decisionExport, network, bundlesPath };
    const programs = addPrograms(this, props);
    const { fn } = programs.admit;
    const relay = new RelayService(this, 'Relay', {
      settings,
      network,
      // The Function URL takes signed calls only; without one the relay calls Lambda's own API.
      admit:
        settings.admitRoute === 'invoke'
          ? { fn }
          : { fn, url: fn.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM }).url },
      table: ledger.table,
      bundlesPath,
    });
    alertOnFailedDeployments(this, settings, relay.service, operators.topic);
    const { topicArns } = operators;
    addMonitoring(this, { settings, table: ledger.table, relay, programs, topicArns });
    const outputs: readonly (readonly [name: string, value: string | undefined, description: string])[] = [
      ['WebhookUrl', programs.webhookUrl, 'The address of the job webhook in GitLab'],
      ['ConsoleUrl', programs.consoleUrl, 'Address of the console; users open console.url of the settings'],
      ['ThresholdsTopicArn', thresholds.topic.topicArn, 'Owners of limits subscribe here'],
      ['AlarmsTopicArn', operators.topic.topicArn, 'Those on call subscribe here'],
    ];
    for (const [name, value, description] of outputs)
      if (value !== undefined) new CfnOutput(this, name, { value, description });
  }
}
