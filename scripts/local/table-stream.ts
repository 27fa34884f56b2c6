/** The stream of a table on DynamoDB Local, read as Lambda reads it. */
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';

interface TableStreamOptions {
  readonly client: DynamoDBStreamsClient;
  readonly tableName: string;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Waits after a round in which no shard had a record. */
  readonly pause: () => Promise<void>;
}

/** Lambda's default batch size. */
const BATCH_MAX = 100;
const CALL_TIMEOUT_MS = 5_000;

/**
 * Returns batches of everything that is written after this resolves, in the order of each shard. They are never empty.
 * DynamoDB Local begins a new shard after four hours, longer than any test: then the reading fails.
 *
 * @throws {Error} if the table has no stream.
 */
export async function newInTable({
  client,
  tableName,
  signal,
  pause,
}: TableStreamOptions): Promise<AsyncGenerator<readonly StreamRecord[]>> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }), timeout());
  const StreamArn = Streams[0]?.StreamArn;
  if (StreamArn === undefined)
    throw new Error(`table ${tableName} has no stream: create it as ledgerTable says`);
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }), timeout());
  const iterators = new Map<string, string>();
  for (const { ShardId = '' } of StreamDescription?.Shards ?? []) {
    const command = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'LATEST' });
    const { ShardIterator } = await client.send(command, timeout());
    if (ShardIterator !== undefined) iterators.set(ShardId, ShardIterator);
  }
  return (async function* read() {
    while (!signal.aborted) {
      if (iterators.size === 0) throw new Error(`every shard of ${tableName} has ended`);
      let isSilent = true;
      for (const [shardId, iterator] of iterators) {
        const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: BATCH_MAX });
        const { Records = [], NextShardIterator } = await client.send(command, timeout());
        if (NextShardIterator === undefined) iterators.delete(shardId);
        else iterators.set(shardId, NextShardIterator);
        if (Records.length === 0) continue;
        isSilent = false;
        yield Records;
        if (signal.aborted) return;
      }
      if (isSilent) await pause();
    }
  })();
}

const timeout = () => ({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
