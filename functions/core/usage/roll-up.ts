import { counterName } from '../../../policies/claim.ts';
import { METRIC_ROLLUP_LEFT_OUT } from '../../names.ts';
import type { ExportResult } from '../export/index.ts';
import type { Counter } from '../ledger/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { LedgerError, type LedgerKeys } from '../store/index.ts';
import { type CountRecordsDeps, countRecords } from './count-records.ts';
import { type CounterSnapshots, isInSnapshot } from './counter-snapshot.ts';
import { type Image, readImages } from './stream-images.ts';
import type { CounterStep, TellTransitions } from './tell-transitions.ts';

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
