import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { ENV_CONSOLE_URL, ENV_THRESHOLDS_TOPIC } from '../../functions/names.ts';
import { runbookPlace } from '../monitoring/runbook.ts';
import type { Settings } from '../settings/deployment.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allow, allowKey } from './statements.ts';

/** A deleted key makes the topic useless, so there is time to think. */
const KEY_PENDING = Duration.days(30);

/** Those on call: every alarm goes here, and to the topics that exist already. */
export class OperatorsTopic extends Construct {
  readonly topic: Topic;
  readonly topicArns: readonly string[];

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    // CloudWatch may not use the account's own key for SNS: a topic encrypted with that one would stay silent.
    const key = new Key(this, 'Key', {
      description: `Tollgate ${settings.stage}: alarms on their way`,
      enableKeyRotation: true,
      pendingWindow: KEY_PENDING,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Alarms of another account have no business with it.
    const toAlarms = (actions: string[], resource: string): PolicyStatement =>
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions,
        resources: [resource],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      });
    // In a key's own policy `*` is the key.
    key.addToResourcePolicy(toAlarms(['kms:Decrypt', 'kms:GenerateDataKey'], '*'));
    this.topic = new Topic(this, 'Topic', {
      topicName: `tollgate-${settings.stage}-alarms`,
      displayName: `Tollgate ${settings.stage}: alarms`,
      enforceSSL: true,
      masterKey: key,
    });
    this.topic.addToResourcePolicy(toAlarms(['sns:Publish'], this.topic.topicArn));
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
export class RelayDeployments extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly settings: Settings; readonly serviceArn: string; readonly topic: ITopic },
  ) {
    super(scope, id);
    const { settings, serviceArn, topic } = props;
    const place = runbookPlace(DEPLOYMENT_FAILED, settings.alarms.runbookUrl);
    const reason = EventField.fromPath('$.detail.reason');
    new Rule(this, 'Failed', {
      ruleName: `tollgate-${settings.stage}-relay-deployment-failed`,
      description: 'Tells those on call',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Deployment State Change'],
        resources: [serviceArn],
        detail: { eventName: ['SERVICE_DEPLOYMENT_FAILED'] },
      },
      targets: [
        new SnsTopic(Topic.fromTopicArn(this, 'Topic', topic.topicArn), {
          role: this.#publisher(topic),
          message: RuleTargetInput.fromText(
            `TICKET: Tollgate ${settings.stage}: ECS gave up a deployment of the relays and keeps the old ones. ${reason} What to do: ${place}`,
          ),
        }),
      ],
    });
  }

  /** A role of this rule's own, rather than a topic that every rule of the account may publish to. */
  #publisher({ topicArn, masterKey }: ITopic): Role {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('events.amazonaws.com') });
    role.addToPolicy(allow(['sns:Publish'], [topicArn]));
    if (masterKey !== undefined)
      role.addToPolicy(allowKey(this, 'sns', ['kms:Decrypt', 'kms:GenerateDataKey'], masterKey.keyArn));
    return role;
  }
}
