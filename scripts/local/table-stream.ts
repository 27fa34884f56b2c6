/** The table's stream read as Lambda reads it: every shard from its beginning, a parent before its children. */
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';

export interface TableStreamOptions {
  readonly client: DynamoDBStreamsClient;
  readonly tableName: string;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Waited out whenever no shard had anything new. */
  readonly pause: () => Promise<void>;
}

/** As many as Lambda hands over at once by default. */
const BATCH_MAX = 100;
const CALL_TIMEOUT_MS = 5_000;
/** A stream of one table on one machine has a handful; the reader would starve beyond. */
const SHARDS_MAX = 1_000;

/**
 * Batches of records, never empty, in the order of their shard; ends when the signal says so. A batch is handed out
 * once: who cannot work it off keeps it.
 *
 * @throws {Error} naming the table when it has no stream.
 */
export async function* tableStream(options: TableStreamOptions): AsyncGenerator<readonly StreamRecord[]> {
  const { signal, pause } = options;
  const streamArn = await streamOf(options);
  const iterators = new Map<string, string>();
  const started = new Set<string>();
  while (!signal.aborted) {
    for (const shardId of await shardsToStart(streamArn, started, iterators, options)) {
      started.add(shardId);
      const iterator = await iteratorOf(streamArn, shardId, options);
      if (iterator !== undefined) iterators.set(shardId, iterator);
    }
    let silent = true;
    for (const [shardId, iterator] of iterators) {
      const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: BATCH_MAX });
      const { Records = [], NextShardIterator } = await options.client.send(command, withTimeout());
      // Without a next one the shard is closed and read to its end.
      if (NextShardIterator === undefined) iterators.delete(shardId);
      else iterators.set(shardId, NextShardIterator);
      if (Records.length === 0) continue;
      silent = false;
      yield Records;
      if (signal.aborted) return;
    }
    if (silent) await pause();
  }
}

/** Shards not yet begun whose parents are not being read any more. */
async function shardsToStart(
  streamArn: string,
  started: ReadonlySet<string>,
  reading: ReadonlyMap<string, string>,
  { client }: TableStreamOptions,
): Promise<readonly string[]> {
  const shards: { readonly id: string; readonly parent: string }[] = [];
  let last: string | undefined;
  do {
    const command = new DescribeStreamCommand({
      StreamArn: streamArn,
      ...(last !== undefined && { ExclusiveStartShardId: last }),
    });
    const { StreamDescription } = await client.send(command, withTimeout());
    for (const { ShardId = '', ParentShardId = '' } of StreamDescription?.Shards ?? []) {
      shards.push({ id: ShardId, parent: ParentShardId });
    }
    last = StreamDescription?.LastEvaluatedShardId;
  } while (last !== undefined && shards.length < SHARDS_MAX);
  const ids = new Set(shards.map(({ id }) => id));
  return shards
    .filter(({ id }) => !started.has(id))
    .filter(({ parent }) => !ids.has(parent) || (started.has(parent) && !reading.has(parent)))
    .map(({ id }) => id);
}

async function streamOf({ client, tableName }: TableStreamOptions): Promise<string> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }), withTimeout());
  const arn = Streams[0]?.StreamArn;
  if (arn === undefined) throw new Error(`table ${tableName} has no stream: create it as ledgerTable says`);
  return arn;
}

async function iteratorOf(
  streamArn: string,
  shardId: string,
  { client }: TableStreamOptions,
): Promise<string | undefined> {
  const command = new GetShardIteratorCommand({
    StreamArn: streamArn,
    ShardId: shardId,
    ShardIteratorType: 'TRIM_HORIZON',
  });
  return (await client.send(command, withTimeout())).ShardIterator;
}

const withTimeout = () => ({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
