import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { PK, SK } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import type { LedgerTable } from './ledger-table.ts';
import { deadLettersName } from './names.ts';
import type { NodeLambda } from './node-lambda.ts';
import type { KeyPattern, StreamReading } from './program-rows.ts';

/** SQS keeps messages for 14 days at most: a holiday of two weeks is not too late. */
const DEAD_LETTERS_KEPT = Duration.days(14);

/** Reads in order for each key, at least once. Halves a batch that fails. A queue keeps the positions that were given up. */
export function consumeStream(
  scope: Construct,
  name: string,
  stream: StreamReading,
  program: NodeLambda,
  { settings, ledger }: { readonly settings: Settings; readonly ledger: LedgerTable },
): void {
  const place = new Construct(scope, 'Consumer');
  const deadLetters = new Queue(place, 'DeadLetters', {
    queueName: deadLettersName(settings.stage, name),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: DEAD_LETTERS_KEPT,
  });
  const filter = (key: string, patterns: readonly KeyPattern[]) =>
    FilterCriteria.filter({ eventName: stream.events, dynamodb: { Keys: { [key]: { S: patterns } } } });
  new EventSourceMapping(place, 'Source', {
    target: program.fn,
    eventSourceArn: ledger.grantStream(program),
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize: stream.batchSize,
    maxBatchingWindow: Duration.seconds(stream.batchSeconds),
    // One batch of a shard at a time: several would only meet on the same counters.
    parallelizationFactor: 1,
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: stream.retries,
    maxRecordAge: Duration.hours(stream.giveUpAfterHours),
    filters: [filter(SK, stream.sortKeys), ...(stream.partitions ? [filter(PK, stream.partitions)] : [])],
    onFailure: new SqsDlq(deadLetters),
  });
}
