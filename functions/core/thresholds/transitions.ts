import { isPipelineCounter } from '../../../policies/limits/grace.ts';
import { decodeItem } from '../ledger/item.ts';
import type { Counter } from '../ledger/ledger.ts';
import type { Item } from '../store/item-bytes.ts';
import { COUNTER_SK, type LedgerKeys } from '../store/keys.ts';
import { PK, SK } from '../store/table.ts';
import { MEASURES, measured, type Transition } from './crossings.ts';

/** One record of the table's stream with both images, as Lambda and the streams API give it. */
export interface StreamRecord {
  readonly dynamodb?:
    | { readonly OldImage?: Item | undefined; readonly NewImage?: Item | undefined }
    | undefined;
}

/**
 * The steps of counters that went up, in the order of the records. Everything else of the table is passed over: records of
 * jobs, what was collected, other instances, and pipelines' counters, which nobody limits.
 */
export function transitionsOf(records: readonly StreamRecord[], keys: LedgerKeys): readonly Transition[] {
  return records.flatMap(({ dynamodb }): readonly Transition[] => {
    const after = counterIn(dynamodb?.NewImage, keys);
    if (after === undefined || isPipelineCounter(after.key)) return [];
    const before = counterIn(dynamodb?.OldImage, keys);
    const transition = before === undefined ? { after } : { before, after };
    return wentUp(transition) ? [transition] : [];
  });
}

function counterIn(item: Item | undefined, keys: LedgerKeys): Counter | undefined {
  if (item?.[SK]?.S !== COUNTER_SK || item[PK]?.S?.startsWith(keys.prefix) !== true) return undefined;
  const stored = decodeItem(item, keys);
  return stored?.kind === 'counter' ? stored.counter : undefined;
}

const wentUp = ({ before, after }: Transition): boolean =>
  MEASURES.some(
    (measure) => measured(after, measure) > (before === undefined ? 0 : measured(before, measure)),
  );
