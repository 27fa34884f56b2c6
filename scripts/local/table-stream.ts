/** The table's stream read as Lambda reads it: every shard, a parent before its children. */
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
  /** Waited out whenever no shard had anything new. */
  readonly pause: () => Promise<void>;
}

/** As many as Lambda hands over at once by default. */
const BATCH_MAX = 100;
const CALL_TIMEOUT_MS = 5_000;
/** New shards come every few hours, and looking for them costs as much as reading one. */
const SHARDS_EVERY_ROUNDS = 20;
/** A stream of one table on one machine has a handful; the reader would starve beyond. */
const SHARDS_MAX = 1_000;

/** How far the reading has come. */
interface Place {
  readonly streamArn: string;
  /** Shards begun. */
  readonly started: Set<string>;
  /** Where to go on, of those that are not read to their end. */
  readonly iterators: Map<string, string>;
}

/**
 * Batches of what is written from now on, never empty, in the order of their shard; ends when the signal says so. Once
 * this resolves, nothing is missed. A batch is handed out once: who cannot work it off keeps it.
 *
 * @throws {Error} naming the table when it has no stream.
 */
export async function newInTable(
  options: TableStreamOptions,
): Promise<AsyncGenerator<readonly StreamRecord[]>> {
  const place: Place = { streamArn: await streamOf(options), started: new Set(), iterators: new Map() };
  for (const { id } of await shardsOf(place.streamArn, options)) {
    place.started.add(id);
    const iterator = await iteratorOf(place.streamArn, id, 'LATEST', options);
    if (iterator !== undefined) place.iterators.set(id, iterator);
  }
  return read(place, options);
}

async function* read(
  { streamArn, started, iterators }: Place,
  options: TableStreamOptions,
): AsyncGenerator<readonly StreamRecord[]> {
  const { signal, pause } = options;
  for (let round = 0; !signal.aborted; round += 1) {
    // A shard that was read to its end has children now.
    if (round % SHARDS_EVERY_ROUNDS === 0 || iterators.size === 0) {
      for (const shardId of shardsToStart(await shardsOf(streamArn, options), started, iterators)) {
        started.add(shardId);
        const iterator = await iteratorOf(streamArn, shardId, 'TRIM_HORIZON', options);
        if (iterator !== undefined) iterators.set(shardId, iterator);
      }
    }
    let silent = true;
    for (const [shardId, iterator] of iterators) {
      const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: BATCH_MAX });
      const { Records = [], NextShardIterator } = await options.client.send(command, withTimeout());
      // A shard that gives no next one is closed and read to its end.
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

interface Shard {
  readonly id: string;
  readonly parent: string;
}

/** Shards not yet begun whose parents are not being read any more. */
function shardsToStart(
  shards: readonly Shard[],
  started: ReadonlySet<string>,
  reading: ReadonlyMap<string, string>,
): readonly string[] {
  const ids = new Set(shards.map(({ id }) => id));
  return shards
    .filter(({ id }) => !started.has(id))
    .filter(({ parent }) => !ids.has(parent) || (started.has(parent) && !reading.has(parent)))
    .map(({ id }) => id);
}

async function shardsOf(streamArn: string, { client }: TableStreamOptions): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
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
  return shards;
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
  from: 'TRIM_HORIZON' | 'LATEST',
  { client }: TableStreamOptions,
): Promise<string | undefined> {
  const command = new GetShardIteratorCommand({
    StreamArn: streamArn,
    ShardId: shardId,
    ShardIteratorType: from,
  });
  return (await client.send(command, withTimeout())).ShardIterator;
}

const withTimeout = () => ({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
