import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Settings } from '../settings/settings.ts';

interface OperatorsTopicProps {
  readonly settings: Settings;
}

/** A deleted key makes the topic useless, so there is time to think. */
const KEY_PENDING = Duration.days(30);

/** Those on call: every alarm goes here, and to the topics that exist already. */
export class OperatorsTopic extends Construct {
  readonly topic: Topic;
  /** ARNs of all topics an alarm notifies. */
  readonly topicArns: readonly string[];

  constructor(scope: Construct, id: string, { settings }: OperatorsTopicProps) {
    super(scope, id);
    // CloudWatch may not use the account's own key for SNS: a topic encrypted with that one would stay silent.
    const key = new Key(this, 'Key', {
      description: `Tollgate ${settings.stage}: alarms on their way`,
      enableKeyRotation: true,
      pendingWindow: KEY_PENDING,
      // It protects messages on their way only.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        // In a key's own policy this is the key.
        resources: ['*'],
        // Alarms of another account have no business with it.
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    this.topic = new Topic(this, 'Topic', {
      topicName: `tollgate-${settings.stage}-alarms`,
      displayName: `Tollgate ${settings.stage}: alarms`,
      enforceSSL: true,
      masterKey: key,
    });
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
