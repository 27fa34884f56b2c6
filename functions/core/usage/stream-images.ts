/** Extracts the rollup's items from a batch of the table's stream. */
import { isRecord } from '../../../policies/document/reading.ts';
import { type Counter, decodeItem, type JobRecord } from '../ledger/index.ts';
import { COUNTER_SK, type Item, isNewer, type LedgerKeys, PK, RECORD_SK, SK } from '../store/index.ts';

export type Image =
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
export function readImages(event: unknown, keys: LedgerKeys): Images {
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
