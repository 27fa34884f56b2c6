/** The table's stream, read as Lambda reads it for the function that settles jobs; what was not taken is handed over again. */
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { type Counter, decodeItem } from '../../../functions/core/ledger/index.ts';
import { COUNTER_SK, INBOX_SK, type Item, ledgerKeys, SK } from '../../../functions/core/store/index.ts';
import type { TableStreamRecord, TableStreamResponse } from '../../../functions/settle/consume.ts';
import { newInTable } from '../../local/table-stream.ts';
import { CHAOS_INSTANCE, CHAOS_TABLE, type FunctionProcess } from './scene.ts';

const AGAIN_MS = 200;
const POLL_MS = 50;

export class SettlementReader {
  /** Inbox items of both kinds that were worked off. */
  taken = 0;
  /** Commits that were looked at. */
  commits = 0;
  readonly #settle: FunctionProcess;
  readonly #committed: (counter: Counter) => void;
  readonly #done = new AbortController();
  readonly #streams: DynamoDBStreamsClient;
  #running: Promise<void> = Promise.resolve();

  /** @param committed - told of every counter as each commit left it, in order. */
  constructor(endpoint: string, settle: FunctionProcess, committed: (counter: Counter) => void) {
    this.#settle = settle;
    this.#committed = committed;
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    this.#streams = new DynamoDBStreamsClient({ endpoint, region: 'local', credentials });
  }

  async start(): Promise<void> {
    const { signal } = this.#done;
    const wait = async (): Promise<void> => void (await pause(POLL_MS));
    const batches = await newInTable({ client: this.#streams, tableName: CHAOS_TABLE, signal, pause: wait });
    this.#running = (async () => {
      for await (const batch of batches) {
        this.#look(batch);
        await this.#handOver(batch.filter(isInbox));
      }
    })();
  }

  async stop(): Promise<void> {
    this.#done.abort();
    await this.#running;
    this.#streams.destroy();
  }

  #look(batch: readonly TableStreamRecord[]): void {
    const keys = ledgerKeys(CHAOS_INSTANCE);
    for (const { dynamodb } of batch) {
      const image = dynamodb?.NewImage;
      if (image?.[SK]?.S !== COUNTER_SK) continue;
      const item = decodeItem(image as Item, keys);
      if (item.kind !== 'counter') continue;
      this.commits += 1;
      this.#committed(item.counter);
    }
  }

  async #handOver(batch: readonly TableStreamRecord[]): Promise<void> {
    for (let left = batch; left.length > 0; ) {
      const failed = await this.#firstFailed(left);
      this.taken += failed;
      left = left.slice(failed);
      if (left.length > 0) await pause(AGAIN_MS);
      if (this.#done.signal.aborted) return;
    }
  }

  /** From where on the batch comes again; its length: nothing of it. */
  async #firstFailed(batch: readonly TableStreamRecord[]): Promise<number> {
    try {
      const { batchItemFailures } = (await this.#settle.invoke({ Records: batch })) as TableStreamResponse;
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
      return first === -1 ? batch.length : first;
    } catch {
      return 0;
    }
  }
}

/** As the event source's filter has it. */
const isInbox = ({ eventName, dynamodb }: TableStreamRecord): boolean =>
  eventName === 'INSERT' && dynamodb?.NewImage?.[SK]?.S?.startsWith(INBOX_SK) === true;
