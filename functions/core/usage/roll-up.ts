import { counterName } from '../../../policies/claim.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { METRIC_ROLLUP_LEFT_OUT } from '../../names.ts';
import type { Log } from '../environment/environment.ts';
import type { ExportResult } from '../export-images.ts';
import { decodeItem } from '../ledger/items.ts';
import type { Counter, JobRecord } from '../ledger/ledger.ts';
import type { Metrics } from '../metrics.ts';
import { COUNTER_SK, type LedgerKeys, RECORD_SK } from '../store/keys.ts';
import { type Item, isNewer, PK, SK } from '../store/operation.ts';
import { LedgerError } from '../store/table-failure.ts';
import { type CountRecordsDeps, countRecords } from './count-records.ts';
import { type CounterSnapshots, isInSnapshot } from './counter-snapshot.ts';

/**
 * Unreadable items are retried this long, because during a deployment newer items meet older programs. Then
 * they are skipped, and the recount counts them.
 */
const UNREADABLE_PATIENCE_MS = 10 * 60_000;

export interface RollUpDeps extends CountRecordsDeps {
  readonly keys: LedgerKeys;
  /** Sends threshold alerts. @default none */
  readonly thresholds?: TellTransitions;
  /** Takes the counters that changed. @default there is no snapshot */
  readonly snapshots?: Pick<CounterSnapshots, 'append'>;
  readonly metrics?: Metrics;
  /** Keeps a batch's decisions outside the table; never throws. @default they are in the table alone */
  readonly exportImages?: (event: unknown) => Promise<ExportResult>;
}

/** Lambda's answer to a stream: it delivers again from the first of these on. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** One batch of the table's stream: records into usage, estimates and top lists, counters to thresholds and snapshot, decisions outside. */
export async function rollUp(event: unknown, deps: RollUpDeps): Promise<StreamAnswer> {
  const { images, unreadable } = readImages(event, deps.keys);
  const youngMs = deps.clock.nowMs() - UNREADABLE_PATIENCE_MS;
  const again = unreadable.filter(({ writtenAtMs }) => writtenAtMs > youngMs);
  const passedOver = unreadable.length - again.length;
  if (again.length > 0) deps.log.error('stream images not readable', { images: again.length });
  if (passedOver > 0) deps.log.error('stream images not readable, passed over', { images: passedOver });
  const failed = new Set([
    ...again.map(({ sequence }) => sequence),
    ...(await appendCounters(images, deps)),
    ...(await countImages(images, deps)),
  ]);
  const exported = await deps.exportImages?.(event);
  for (const sequence of exported?.again ?? []) failed.add(sequence);
  const untold = (await deps.thresholds?.tell(stepsOf(images))) ?? 0;
  const leftOut = passedOver + untold + (exported?.lost ?? 0);
  if (leftOut > 0) deps.metrics?.add(METRIC_ROLLUP_LEFT_OUT, leftOut);
  deps.metrics?.flush();
  return { batchItemFailures: [...failed].map((itemIdentifier) => ({ itemIdentifier })) };
}

async function countImages(images: readonly Image[], deps: RollUpDeps): Promise<readonly string[]> {
  const records = images.flatMap((image) => (image.kind === 'record' ? [image.record] : []));
  const { failedJobIds } = await countRecords(records, deps);
  if (failedJobIds.size > 0) deps.log.warn('jobs not counted yet', { jobs: failedJobIds.size });
  return images.flatMap((image) =>
    image.kind === 'record' && failedJobIds.has(image.record.jobId) ? [image.sequence] : [],
  );
}

/** All or nothing: a batch that is delivered again is appended again. */
async function appendCounters(
  images: readonly Image[],
  { snapshots, log }: RollUpDeps,
): Promise<readonly string[]> {
  const latest = new Map<string, Counter>();
  for (const image of images)
    if (image.kind === 'counter' && isInSnapshot(image.after.key))
      latest.set(counterName(image.after.key), image.after);
  const [first] = images;
  if (first === undefined || latest.size === 0) return [];
  try {
    await snapshots?.append([...latest.values()], first.sequence);
    return [];
  } catch (error) {
    if (!(error instanceof LedgerError && error.retryable)) throw error;
    log.warn('counters not appended to the snapshot yet', { counters: latest.size });
    return [first.sequence];
  }
}

const stepsOf = (images: readonly Image[]): readonly CounterStep[] =>
  images.flatMap((image) => {
    if (image.kind !== 'counter') return [];
    const { before, after } = image;
    return [before === undefined ? { after } : { before, after }];
  });

// Extracts the rollup's items from a batch of the table's stream.

type Image =
  | {
      readonly kind: 'record';
      readonly sequence: string;
      readonly record: JobRecord;
    }
  | {
      readonly kind: 'counter';
      readonly sequence: string;
      /** Absent: there was none. */
      readonly before?: Counter;
      readonly after: Counter;
    };

interface UnreadableImage {
  readonly sequence: string;
  /** Unix ms, to the second; 0: the stream did not say. */
  readonly writtenAtMs: number;
}

interface Images {
  readonly images: readonly Image[];
  /** Ours that could not be read. */
  readonly unreadable: readonly UnreadableImage[];
}

/**
 * Records and counters of this instance, in order. What garbage collection removed, and what others keep in the table, is
 * left out: the event source filters most of it already.
 *
 * @param event - as Lambda passes it on: `{Records: [{eventName, dynamodb: {SequenceNumber, NewImage, …}}]}`.
 */
function readImages(event: unknown, keys: LedgerKeys): Images {
  const images: Image[] = [];
  const unreadable: UnreadableImage[] = [];
  for (const entry of listOf(fieldOf(event, 'Records'))) {
    const change = fieldOf(entry, 'dynamodb');
    const sequence = fieldOf(change, 'SequenceNumber');
    const after = itemOf(fieldOf(change, 'NewImage'));
    if (typeof sequence !== 'string' || after === undefined || !isOurs(after, keys)) continue;
    try {
      if (isNewer(after)) throw new RangeError('written by a newer program');
      const image = imageOf(sequence, itemOf(fieldOf(change, 'OldImage')), after, keys);
      if (image !== undefined) images.push(image);
    } catch {
      const writtenAt = fieldOf(change, 'ApproximateCreationDateTime');
      unreadable.push({ sequence, writtenAtMs: typeof writtenAt === 'number' ? writtenAt * 1000 : 0 });
    }
  }
  return { images, unreadable };
}

function imageOf(sequence: string, old: Item | undefined, now: Item, keys: LedgerKeys): Image | undefined {
  const after = decodeItem(now, keys);
  if (after?.kind === 'record') {
    const { jobId, rev } = after.record;
    if (!Number.isSafeInteger(jobId) || !Number.isSafeInteger(rev) || rev < 1)
      throw new RangeError('a record without job id or rev');
    return { kind: 'record', sequence, record: after.record };
  }
  if (after?.kind !== 'counter') return undefined;
  const before = old === undefined ? undefined : decodeItem(old, keys);
  return {
    kind: 'counter',
    sequence,
    ...(before?.kind === 'counter' && { before: before.counter }),
    after: after.counter,
  };
}

const isOurs = (item: Item, keys: LedgerKeys): boolean =>
  (item[SK]?.S === RECORD_SK || item[SK]?.S === COUNTER_SK) && (item[PK]?.S ?? '').startsWith(keys.prefix);

const fieldOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The shape of attribute values is DynamoDB's own. */
const itemOf = (value: unknown): Item | undefined => (isRecord(value) ? (value as Item) : undefined);

/** A counter's step from one write to the next; without `before` its first. */
export interface CounterStep {
  readonly before?: Counter;
  readonly after: Counter;
}

/**
 * Called with the steps of a batch's counters, in order. After a failure, the last step of each counter is
 * passed again.
 */
export type OnTransitions = (steps: readonly CounterStep[]) => Promise<unknown>;

/** Counters with unsent alerts; any more wait for the counter's next step. */
const WAITING_MAX = 2_000;

/**
 * Sends threshold alerts independently of the counting of records: a failing topic does not delay usage.
 * Unsent alerts go out with a later batch. Alerts are about levels, so only the last step of a counter is
 * kept; if the process ends, the counter's next step sends it.
 */
export class TellTransitions {
  readonly #onTransitions: OnTransitions;
  readonly #log: Log;
  readonly #waiting = new Map<string, CounterStep>();

  constructor(onTransitions: OnTransitions, log: Log) {
    this.#onTransitions = onTransitions;
    this.#log = log;
  }

  /** Never throws. @returns how many counters still wait. */
  async tell(steps: readonly CounterStep[]): Promise<number> {
    const due = [...this.#waiting.values(), ...steps];
    if (due.length === 0) return 0;
    try {
      await this.#onTransitions(due);
      this.#waiting.clear();
    } catch (error) {
      for (const step of steps) this.#wait(step);
      this.#log.warn('owners not told of thresholds', {
        counters: this.#waiting.size,
        error: error instanceof Error ? error.name : 'unknown',
      });
    }
    return this.#waiting.size;
  }

  #wait(step: CounterStep): void {
    const name = counterName(step.after.key);
    if (this.#waiting.has(name) || this.#waiting.size < WAITING_MAX) this.#waiting.set(name, step);
  }
}
