import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { DecisionExport } from './constructs/decision-export.ts';
import type { LedgerTable } from './constructs/ledger-table.ts';
import { RelayNetwork } from './constructs/network.ts';
import { Programs } from './constructs/programs.ts';
import { RelayService } from './constructs/relay-service.ts';
import { OperatorsTopic, RelayDeployments, ThresholdsTopic } from './constructs/topics.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import type { Settings } from './settings/deployment.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly decisionExport: DecisionExport | undefined;
  readonly bundlesPath: string;
}

/** Everything that runs. It keeps nothing: it can be destroyed and deployed again on the same table. */
export class ServiceStack extends Stack {
  readonly monitoring: Monitoring;

  constructor(
    scope: Construct,
    id: string,
    { settings, ledger, decisionExport, bundlesPath, ...props }: ServiceStackProps,
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: relay and functions`,
      // GitLab fails every job of an enabled controller without a relay: `npm run destroy` asks first, then lifts this.
      terminationProtection: true,
    });
    const network = new RelayNetwork(this, 'Network', settings.vpc);
    const operators = new OperatorsTopic(this, 'Operators', settings);
    const thresholds = new ThresholdsTopic(this, 'Thresholds', settings);
    const programs = new Programs(this, {
      settings,
      ledger,
      thresholds,
      operators,
      decisionExport,
      network,
      bundlesPath,
    });
    const { fn } = programs.admit;
    const relay = new RelayService(this, 'Relay', {
      settings,
      network,
      // The Function URL takes signed calls only; without one the relay calls Lambda's own API.
      admit:
        settings.admitRoute === 'invoke'
          ? { route: 'invoke', fn }
          : { route: 'url', fn, url: fn.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM }).url },
      table: ledger.table,
    });
    new RelayDeployments(this, 'RelayDeployments', {
      settings,
      serviceArn: relay.service.serviceArn,
      topic: operators.topic,
    });
    this.monitoring = new Monitoring(this, 'Monitoring', {
      settings,
      table: ledger.table,
      relay,
      programs,
      topicArns: operators.topicArns,
    });
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
