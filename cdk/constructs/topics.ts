import { Annotations, Stack } from 'aws-cdk-lib';
import type { IService } from 'aws-cdk-lib/aws-ecs';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { ENV_CONSOLE_URL, ENV_THRESHOLDS_TOPIC } from '../../functions/names.ts';
import { runbookPlace } from '../monitoring/runbook.ts';
import type { Settings } from '../settings/deployment.ts';
import { operatorsTopicName } from './names.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allow } from './statements.ts';

/** Those on call: every alarm goes here, and to the topics that exist already. */
export class OperatorsTopic extends Construct {
  readonly topic: Topic;
  readonly topicArns: readonly string[];

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', {
      topicName: operatorsTopicName(settings.stage),
      displayName: `Tollgate ${settings.stage}: alarms`,
      // Without a key, SNS still encrypts its disks. CloudWatch may not use the account's key, and one of its own costs $1 a month.
      enforceSSL: true,
    });
    // Alarms of another account have no business with it.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    for (const email of settings.alarms.emails) this.topic.addSubscription(new EmailSubscription(email));
    for (const url of settings.alarms.webhooks) this.topic.addSubscription(new UrlSubscription(url));
    this.topicArns = [this.topic.topicArn, ...settings.alarms.topicArns];
  }
}

/** Owners of limits subscribe here: "80 % of the budget of acme/payments is spent", "dana asks for 200 EUR more". */
export class ThresholdsTopic extends Construct {
  readonly topic: Topic;
  readonly #consoleUrl: string | undefined;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.#consoleUrl = settings.console?.url;
    this.topic = new Topic(this, 'Topic', {
      topicName: `tollgate-${settings.stage}-thresholds`,
      displayName: `Tollgate ${settings.stage}: CI budgets`,
      enforceSSL: true,
      // The account's key for SNS lets every principal publish that may publish.
      masterKey: Alias.fromAliasName(this, 'Key', 'alias/aws/sns'),
    });
  }

  grantPublish(program: NodeLambda): void {
    program.fn.addEnvironment(ENV_THRESHOLDS_TOPIC, this.topic.topicArn);
    if (this.#consoleUrl !== undefined) program.fn.addEnvironment(ENV_CONSOLE_URL, this.#consoleUrl);
    program.allow(['sns:Publish'], [this.topic.topicArn]);
  }
}

const DEPLOYMENT_FAILED = 'A deployment of the relays failed';

/**
 * Alerts on-call if ECS rolls back a deployment of the relays. The old relays keep running, so no metric
 * shows it; neither does CloudFormation for background deployments or tasks forced by hand.
 *
 * @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_service_deployment_events.html
 */
export function alertOnFailedDeployments(
  scope: Construct,
  { stage, alarms }: Settings,
  { serviceArn }: IService,
  topicArn: string,
): void {
  const place = new Construct(scope, 'RelayDeployments');
  const runbook = runbookPlace(DEPLOYMENT_FAILED, alarms.runbookUrl);
  const reason = EventField.fromPath('$.detail.reason');
  // Rule and topic are of one account and region, also where a template names none.
  Annotations.of(place).acknowledgeWarning('@aws-cdk/aws-events:ruleUnresolvedEnvironment');
  // The rule has its own role, so that not every rule of the account may publish to the topic.
  const role = new Role(place, 'Role', { assumedBy: new ServicePrincipal('events.amazonaws.com') });
  role.addToPolicy(allow(['sns:Publish'], [topicArn]));
  new Rule(place, 'Failed', {
    ruleName: `tollgate-${stage}-relay-deployment-failed`,
    description: 'Pages the people on call',
    eventPattern: {
      source: ['aws.ecs'],
      detailType: ['ECS Deployment State Change'],
      resources: [serviceArn],
      detail: { eventName: ['SERVICE_DEPLOYMENT_FAILED'] },
    },
    targets: [
      new SnsTopic(Topic.fromTopicArn(place, 'Topic', topicArn), {
        role,
        message: RuleTargetInput.fromText(
          `TICKET: Tollgate ${stage}: ECS gave up a deployment of the relays and keeps the old ones. ${reason} What to do: ${runbook}`,
        ),
      }),
    ],
  });
}
