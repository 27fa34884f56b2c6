import { Alias } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { ENV_CONSOLE_URL, ENV_THRESHOLDS_TOPIC } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { NodeLambda } from './node-lambda.ts';

interface ThresholdsTopicProps {
  readonly settings: Settings;
}

/** Owners of limits subscribe here: "80 % of the budget of acme/payments is spent", "dana asks for 200 EUR more". */
export class ThresholdsTopic extends Construct {
  readonly topic: Topic;
  readonly #consoleUrl: string | undefined;

  constructor(scope: Construct, id: string, { settings }: ThresholdsTopicProps) {
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

  /** Lets `program` notify owners and passes the topic and the base of links. */
  grantPublish(program: NodeLambda): void {
    program.fn.addEnvironment(ENV_THRESHOLDS_TOPIC, this.topic.topicArn);
    if (this.#consoleUrl !== undefined) program.fn.addEnvironment(ENV_CONSOLE_URL, this.#consoleUrl);
    program.allow(['sns:Publish'], [this.topic.topicArn]);
  }
}
