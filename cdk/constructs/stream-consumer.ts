import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { PK, SK } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import type { NodeLambda } from './node-lambda.ts';

/** A whole key or its beginning, as the stream's filters are written. */
type KeyPattern = string | { readonly prefix: string };

interface StreamConsumerProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly program: NodeLambda;
  /** Names the dead letters: `settle-stream`. */
  readonly name: string;
  /** Only items with these sort keys come through; the others cost nothing. */
  readonly sortKeys: readonly KeyPattern[];
  /** And all items whose partition keys are like these. @default none */
  readonly partitions?: readonly KeyPattern[];
  readonly events: readonly ('INSERT' | 'MODIFY')[];
  readonly batchSize: number;
  /** Waits this long for a fuller batch. */
  readonly batchWindow: Duration;
  /** Retries of a batch before it is given up. The program itself reports the failed items. */
  readonly retries: number;
  /** Older items are given up, so that the stream continues. Less than the day that a stream keeps. */
  readonly givenUpAfter: Duration;
}

/**
 * Reads the table's stream: in order for each key, at least once, from the oldest there is. A batch that fails is halved
 * until the one that fails alone is found; what is given up goes to the dead letters.
 */
export class StreamConsumer extends Construct {
  readonly deadLetters: DeadLetters;
  readonly #program: NodeLambda;

  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id);
    this.#program = props.program;
    this.deadLetters = new DeadLetters(this, 'DeadLetters', { settings: props.settings, of: props.name });
    new EventSourceMapping(this, 'Source', {
      target: props.program.fn,
      eventSourceArn: props.ledger.grantStream(props.program),
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: props.batchSize,
      maxBatchingWindow: props.batchWindow,
      // One batch of a shard at a time: several would only meet on the same counters.
      parallelizationFactor: 1,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: props.retries,
      maxRecordAge: props.givenUpAfter,
      filters: [
        filter(props.events, SK, props.sortKeys),
        ...(props.partitions === undefined ? [] : [filter(props.events, PK, props.partitions)]),
      ],
      onFailure: new SqsDlq(this.deadLetters.queue),
    });
  }

  /** Milliseconds between a write to the table and its being worked off. */
  metricLag() {
    return this.#program.fn.metric('IteratorAge', { period: Duration.minutes(1), statistic: 'Maximum' });
  }
}

const filter = (events: StreamConsumerProps['events'], key: string, patterns: readonly KeyPattern[]) =>
  FilterCriteria.filter({ eventName: events, dynamodb: { Keys: { [key]: { S: patterns } } } });

interface DeadLettersProps {
  readonly settings: Settings;
  /** The program whose letters these are: `settle-stream`. */
  readonly of: string;
}

/** As long as SQS keeps anything: a fortnight's holiday is not too late. */
const KEPT = Duration.days(14);

/** Queue of given-up batches. A message holds the position in the stream, not the items. */
class DeadLetters extends Construct {
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

  /** Number of messages. More than 0 is an error. */
  metricWaiting() {
    return this.queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: 'Maximum',
    });
  }
}
