import { CfnOutput, ReferenceStrength, Stack, type StackProps, Token } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { RelayNetwork } from './constructs/network.ts';
import { addPrograms, webhookUrlAt } from './constructs/programs.ts';
import { OperatorsTopic, ThresholdsTopic } from './constructs/topics.ts';
import { addMonitoring } from './monitoring/monitoring.ts';
import type { DeploymentProps } from './settings/deployment.ts';
import type { StateStack } from './state-stack.ts';

/** The functions, their topics, alarms and dashboard. It needs no relay and knows none: a router that is down holds no fix back. */
export class FunctionsStack extends Stack {
  /** Absent: relays call admit by its name. */
  readonly admitUrl: string | undefined;
  readonly consoleUrl: string | undefined;
  /** Those on call subscribe here. */
  readonly alarmsTopic: ITopic;
  readonly thresholdsTopic: ITopic;

  constructor(
    scope: Construct,
    id: string,
    { settings, bundlesPath, state, ...props }: StackProps & DeploymentProps & { readonly state: StateStack },
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: functions and alarms`,
      terminationProtection: true,
    });
    const operators = new OperatorsTopic(this, 'Operators', settings);
    const thresholds = new ThresholdsTopic(this, 'Thresholds', settings);
    const programs = addPrograms(this, {
      ...{ settings, bundlesPath, thresholds, operators },
      ...{ ledger: state.ledger, decisionExport: state.decisionExport },
      // Weak, or the state could not take its URL away for a domain while functions know it.
      webhookUrl: webhookUrlAt(
        Token.isUnresolved(state.receiverUrl)
          ? Stack.consumeReference(state.receiverUrl, ReferenceStrength.WEAK)
          : state.receiverUrl,
      ),
      network:
        settings.gitlab.reachedFrom === 'vpc' ? new RelayNetwork(this, 'Network', settings.vpc) : undefined,
    });
    // It takes signed calls only; without one the relay calls Lambda's own API.
    this.admitUrl =
      settings.admitRoute === 'invoke'
        ? undefined
        : programs.admit.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM }).url;
    this.consoleUrl = programs.consoleUrl;
    [this.alarmsTopic, this.thresholdsTopic] = [operators.topic, thresholds.topic];
    addMonitoring(this, { settings, state, topicArns: operators.topicArns });
    for (const [name, value, description] of [
      ['ConsoleUrl', programs.consoleUrl, 'Address of the console; users open console.url of the settings'],
      ['ThresholdsTopicArn', thresholds.topic.topicArn, 'Owners of limits subscribe here'],
      ['AlarmsTopicArn', operators.topic.topicArn, 'Those on call subscribe here'],
    ] as const)
      if (value !== undefined) new CfnOutput(this, name, { value, description });
  }
}
