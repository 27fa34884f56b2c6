import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Settings } from '../settings/settings.ts';

export interface DeadLettersProps {
  readonly settings: Settings;
  /** The program whose letters these are: `settle-stream`. */
  readonly of: string;
}

/** As long as SQS keeps anything: a fortnight's holiday is not too late. */
const KEPT = Duration.days(14);

/** What was given up. A stream's letters say where to read, not what: the items themselves are in the table. */
export class DeadLetters extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { settings, of }: DeadLettersProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName: `tollgate-${settings.stage}-${of}-dead-letters`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
    });
  }

  /** Letters that wait for somebody. More than none is wrong. */
  metricWaiting() {
    return this.queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: 'Maximum',
    });
  }
}
