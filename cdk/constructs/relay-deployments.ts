import { Stack } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { runbookPlace } from '../monitoring/runbook.ts';
import type { Settings } from '../settings/settings.ts';

interface RelayDeploymentsProps {
  readonly settings: Settings;
  /** ARN of the relays' service. */
  readonly serviceArn: string;
  /** Those on call. */
  readonly topic: ITopic;
}

/** Section of the runbook. */
export const DEPLOYMENT_FAILED = 'A deployment of the relays failed';

/**
 * Alerts on-call if ECS rolls back a deployment of the relays. The old relays keep running, so no metric
 * shows it; neither does CloudFormation for background deployments or tasks forced by hand.
 *
 * @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_service_deployment_events.html
 */
export class RelayDeployments extends Construct {
  constructor(scope: Construct, id: string, { settings, serviceArn, topic }: RelayDeploymentsProps) {
    super(scope, id);
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
    role.addToPolicy(new PolicyStatement({ actions: ['sns:Publish'], resources: [topicArn] }));
    if (masterKey !== undefined) {
      role.addToPolicy(
        new PolicyStatement({
          actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
          resources: [masterKey.keyArn],
          conditions: {
            StringEquals: { 'kms:ViaService': `sns.${Stack.of(this).region}.amazonaws.com` },
          },
        }),
      );
    }
    return role;
  }
}
