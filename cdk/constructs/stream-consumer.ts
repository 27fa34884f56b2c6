import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { PK, SK } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import type { LedgerTable } from './ledger-table.ts';
import type { NodeLambda } from './node-lambda.ts';

type KeyPattern = string | { readonly prefix: string };

export interface StreamReading {
  /** Only items with these sort keys come through; the others cost nothing. */
  readonly sortKeys: readonly KeyPattern[];
  /** And all items whose partition keys are like these. @default none */
  readonly partitions?: readonly KeyPattern[];
  readonly events: readonly ('INSERT' | 'MODIFY')[];
  readonly batchSize: number;
  readonly batchWindow: Duration;
  /** Retries of a batch before it is given up. The program itself reports the failed items. */
  readonly retries: number;
  /** Older items are given up, so that the stream continues. Less than the day that a stream keeps. */
  readonly givenUpAfter: Duration;
}

interface StreamConsumerProps extends StreamReading {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly program: NodeLambda;
  readonly name: string;
}

/**
 * Reads the table's stream: in order for each key, at least once, from the oldest there is. A batch that fails is halved
 * until the one that fails alone is found; what is given up goes to the dead letters.
 */
export class StreamConsumer extends Construct {
  /** Queue of given-up batches. A message holds the position in the stream, not the items. */
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      queueName: `tollgate-${props.settings.stage}-${props.name}-dead-letters`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: DEAD_LETTERS_KEPT,
    });
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
      onFailure: new SqsDlq(this.deadLetters),
    });
  }
}

/** As long as SQS keeps anything: a fortnight's holiday is not too late. */
const DEAD_LETTERS_KEPT = Duration.days(14);

const filter = (events: StreamConsumerProps['events'], key: string, patterns: readonly KeyPattern[]) =>
  FilterCriteria.filter({ eventName: events, dynamodb: { Keys: { [key]: { S: patterns } } } });
