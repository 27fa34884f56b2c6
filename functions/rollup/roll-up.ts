import type { LedgerKeys } from '../ledger/keys.ts';
import type { Counter } from '../ledger/ledger.ts';
import { type CountRecordsDeps, countRecords } from './count-records.ts';
import { type Image, readImages } from './stream-images.ts';

/** A counter's step from one write to the next; without `before` its first. */
export interface CounterStep {
  readonly before?: Counter;
  readonly after: Counter;
}

/** Told of the steps of a batch's counters, in order; after a failure, here or elsewhere, the same steps come again. */
export type OnTransitions = (steps: readonly CounterStep[]) => Promise<unknown>;

export interface RollUpDeps extends CountRecordsDeps {
  readonly keys: LedgerKeys;
  readonly onTransitions?: OnTransitions;
}

/** Lambda's answer to a stream: it delivers again from the first of these on. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** One batch of the table's stream: records into usage, estimates and top lists, counters to the thresholds. */
export async function rollUp(event: unknown, deps: RollUpDeps): Promise<StreamAnswer> {
  const { images, unreadable } = readImages(event, deps.keys);
  if (unreadable.length > 0) deps.log.error('stream images not readable', { images: unreadable.length });
  const failed = new Set([
    ...unreadable,
    ...(await countImages(images, deps)),
    ...(await tellTransitions(images, deps)),
  ]);
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

async function tellTransitions(
  images: readonly Image[],
  { onTransitions, log }: RollUpDeps,
): Promise<readonly string[]> {
  const steps = images.filter((image) => image.kind === 'counter');
  const [first] = steps;
  if (onTransitions === undefined || first === undefined) return [];
  try {
    await onTransitions(
      steps.map(({ before, after }) => (before === undefined ? { after } : { before, after })),
    );
    return [];
  } catch (error) {
    log.warn('thresholds not looked at', { error: error instanceof Error ? error.name : 'unknown' });
    // From the first on, so that a counter's steps come again in their order.
    return [first.sequence];
  }
}
