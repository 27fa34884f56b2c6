import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { decodeItem } from '../../../functions/core/ledger/items.ts';
import type { Counter } from '../../../functions/core/ledger/ledger.ts';
import { COUNTER_SK, INBOX_SK, ledgerKeys } from '../../../functions/core/store/keys.ts';
import { type Item, SK } from '../../../functions/core/store/operation.ts';
import type { TableStreamRecord, TableStreamResponse } from '../../../functions/settle/consume.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { newInTable } from '../../local/dynamodb-local.ts';
import { CHAOS_INSTANCE, CHAOS_TABLE, chaosLimitOf, type FunctionPlace } from './scene.ts';

/** The decisions in the relays' logs. */
export class DecisionLog {
  /** By decider and outcome. */
  readonly counts: Record<string, number> = {};
  /** Outcome, decider and cause, and the index of the deciding relay. */
  readonly byJob = new Map<number, { readonly text: string; readonly relay: number }>();
  readonly lostJobs = new Set<number>();

  readonly hear = (text: string, relay: number): void => {
    if (!text.startsWith('{') || text.startsWith('{"_aws"')) return;
    const line: unknown = JSON.parse(text);
    if (!isRecord(line)) return;
    if (line.message === 'decision') {
      const { jobId, via, cause, outcome, heard } = line;
      const by = `${outcome} by ${via}${cause === undefined ? '' : `, ${cause}`}`;
      this.counts[by] = (this.counts[by] ?? 0) + 1;
      this.byJob.set(Number(jobId), { text: heard === false ? `${by}, not heard` : by, relay });
    }
    if (line.message === 'fallback answers lost' && Array.isArray(line.jobIds))
      for (const jobId of line.jobIds) this.lostJobs.add(Number(jobId));
  };
}

/** Checks the counters after every commit. */
export class OverLimit {
  commits = 0;
  /** Commits after which the ledger's own admissions exceeded a limit: must stay 0. */
  broken = 0;
  /** The highest committed amount beyond a limit, as a share of it: fallback admissions. */
  mostOver = 0;

  look({ key, committed, unchecked }: Counter): void {
    this.commits += 1;
    const limit = chaosLimitOf(key.subject);
    if (limit === undefined) return;
    const unasked = Object.values(unchecked).reduce((sum, amount) => sum + amount, 0);
    if (committed - unasked > limit) this.broken += 1;
    this.mostOver = Math.max(this.mostOver, committed / limit - 1);
  }
}

const AGAIN_MS = 200;
const POLL_MS = 50;

/** Reads the table's stream for the settling function, as Lambda does, and retries failed records. */
export class SettlementReader {
  /** Inbox items that were processed. */
  taken = 0;
  readonly over = new OverLimit();
  readonly #settle: FunctionPlace;
  readonly #done = new AbortController();
  readonly #streams: DynamoDBStreamsClient;
  #running: Promise<void> = Promise.resolve();

  constructor(endpoint: string, settle: FunctionPlace) {
    this.#settle = settle;
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
      if (item.kind === 'counter') this.over.look(item.counter);
    }
  }

  async #handOver(batch: readonly TableStreamRecord[]): Promise<void> {
    for (let left = batch; left.length > 0 && !this.#done.signal.aborted; ) {
      const done = await this.#settled(left);
      this.taken += done;
      left = left.slice(done);
      if (left.length > 0) await pause(AGAIN_MS);
    }
  }

  /** Returns the number of records before the first failed one. */
  async #settled(batch: readonly TableStreamRecord[]): Promise<number> {
    try {
      // Fails without a process, as an invocation does.
      const answer = await this.#settle.running?.invoke({ Records: batch });
      const { batchItemFailures } = answer as TableStreamResponse;
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
      return first === -1 ? batch.length : first;
    } catch {
      return 0;
    }
  }
}

/** The filter of the event source. */
const isInbox = ({ eventName, dynamodb }: TableStreamRecord): boolean =>
  eventName === 'INSERT' && dynamodb?.NewImage?.[SK]?.S?.startsWith(INBOX_SK) === true;
