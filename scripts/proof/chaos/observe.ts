import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { decodeItem } from '../../../functions/core/ledger/items.ts';
import type { Counter } from '../../../functions/core/ledger/ledger.ts';
import { COUNTER_SK, INBOX_SK, ledgerKeys } from '../../../functions/core/store/keys.ts';
import { type Item, SK } from '../../../functions/core/store/operation.ts';
import type { TableStreamRecord, TableStreamResponse } from '../../../functions/settle/consume.ts';
import { counterName } from '../../../policies/claim.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { newInTable } from '../../local/dynamodb-local.ts';
import {
  CHAOS_INSTANCE,
  CHAOS_TABLE,
  chaosCapOf,
  chaosLimitOf,
  type FunctionPlace,
  rootOf,
} from './scene.ts';

/** The decisions in the relays' logs. */
export class DecisionLog {
  /** By the ledger, and by the fallback with its outcome. */
  readonly counts = { ledger: 0, admitted: 0, rejected: 0, withheld: 0 };
  /** Outcome, decider and cause, by job. */
  readonly byJob = new Map<number, string>();
  /** Jobs that the ledger admitted. */
  readonly byLedger = new Set<number>();
  /** Index of the deciding relay, by job. */
  readonly relayOf = new Map<number, number>();
  readonly lostJobs = new Set<number>();

  readonly hear = (text: string, relay: number): void => {
    if (!text.startsWith('{') || text.startsWith('{"_aws"')) return;
    const line: unknown = JSON.parse(text);
    if (!isRecord(line)) return;
    if (line.message === 'decision') {
      this.#decision(line);
      this.relayOf.set(Number(line.jobId), relay);
    }
    if (line.message === 'fallback answers lost' && Array.isArray(line.jobIds))
      for (const jobId of line.jobIds) this.lostJobs.add(Number(jobId));
  };

  #decision({ jobId, via, cause, outcome, heard }: Readonly<Record<string, unknown>>): void {
    const { counts } = this;
    const unheard = heard === false ? ', not heard' : '';
    this.byJob.set(Number(jobId), `${outcome} by ${via}${cause === undefined ? '' : `, ${cause}`}${unheard}`);
    if (via === 'ledger' && outcome === 'admitted') this.byLedger.add(Number(jobId));
    if (via === 'ledger') counts.ledger += 1;
    else if (cause === 'schema_unproven') counts.withheld += 1;
    else if (outcome === 'admitted') counts.admitted += 1;
    else counts.rejected += 1;
  }
}

interface OverLimitFigure {
  readonly counter: string;
  readonly limit: number;
  /** The highest committed amount beyond the limit. */
  readonly mostOver: number;
}

/** Checks the counters after every commit. */
export class OverLimit {
  /** Commits after which the ledger's own admissions exceeded a limit: must stay 0. */
  broken = 0;
  readonly #figures = new Map<string, OverLimitFigure>();

  readonly look = ({ key, committed, unchecked }: Counter): void => {
    const limit = chaosLimitOf(key.subject);
    if (limit === undefined) return;
    const unasked = Object.values(unchecked).reduce((sum, amount) => sum + amount, 0);
    if (committed - unasked > limit) this.broken += 1;
    const counter = counterName(key);
    const mostOver = Math.max(0, committed - limit, this.#figures.get(counter)?.mostOver ?? 0);
    this.#figures.set(counter, { counter, limit, mostOver });
  };

  get figures(): readonly OverLimitFigure[] {
    return [...this.#figures.values()].sort((a, b) => a.counter.localeCompare(b.counter));
  }
}

/** A job that ran, by the clock of the load. */
export interface ChaosRun {
  readonly jobId: number;
  readonly projectId: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface RoomErrorFigure {
  /** The most jobs that ran beyond a cap, by its subject. */
  readonly most: Readonly<Record<string, number>>;
  /** Starts beyond a cap that no fallback admission explains: must stay 0. */
  readonly unexplained: number;
}

/**
 * Computes the error of the headroom that relays used without the ledger: jobs that really ran beyond a cap.
 *
 * @param isByLedger - true if the ledger admitted the job; false if no log says so.
 */
export function roomError(
  runs: readonly ChaosRun[],
  isByLedger: (jobId: number) => boolean,
): RoomErrorFigure {
  const most: Record<string, number> = {};
  let unexplained = 0;
  // At the same moment, ends come before starts.
  const steps = runs
    .flatMap((run) => [
      { atMs: run.fromMs, by: 1, run },
      { atMs: run.toMs, by: -1, run },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  for (const subject of new Set(runs.flatMap(subjectsOfRun))) {
    const cap = chaosCapOf(subject);
    if (cap === undefined) continue;
    let [running, alone] = [0, 0];
    for (const { by, run } of steps) {
      if (!subjectsOfRun(run).includes(subject)) continue;
      running += by;
      if (!isByLedger(run.jobId)) alone += by;
      const over = running - cap;
      most[subject] = Math.max(most[subject] ?? 0, over);
      if (by > 0 && over > alone) unexplained += 1;
    }
  }
  return { most, unexplained };
}

const subjectsOfRun = ({ projectId }: ChaosRun): readonly string[] => [
  'instance',
  `group/${rootOf(projectId)}`,
];

const AGAIN_MS = 200;
const POLL_MS = 50;

/** Reads the table's stream for the settling function, as Lambda does, and retries failed records. */
export class SettlementReader {
  /** Inbox items that were processed. */
  taken = 0;
  commits = 0;
  readonly #settle: FunctionPlace;
  readonly #committed: (counter: Counter) => void;
  readonly #done = new AbortController();
  readonly #streams: DynamoDBStreamsClient;
  #running: Promise<void> = Promise.resolve();

  /** @param committed - called with every counter after each commit, in order. */
  constructor(endpoint: string, settle: FunctionPlace, committed: (counter: Counter) => void) {
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

  /** Returns the index of the first failed record, or the length of the batch. */
  async #firstFailed(batch: readonly TableStreamRecord[]): Promise<number> {
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
