/**
 * Computes the write units of a transaction, because DynamoDB Local reports a flat figure and a failed
 * transaction reports none.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html (two writes
 * per item)
 */

import { itemBytes, type LedgerKeys } from '../store/index.ts';
import { NO_AMOUNTS } from './amounts.ts';
import { encodeClosing, encodeCounter, encodeEntry, encodeReset } from './counter-item.ts';
import { recordItem } from './dynamo-write.ts';
import type { TransactOutcome, Write } from './store.ts';

interface WriteUnits {
  /** Every item twice (prepare and commit), per started KB. */
  readonly table: number;
  /** Entries put into or taken out of the due index, which holds keys only: one each. */
  readonly index: number;
}

const NOTHING: WriteUnits = { table: 0, index: 0 };

/** A refused or conflicted transaction pays for the table as if it had worked; the index follows only what is committed. */
export function writeUnits(
  writes: readonly Write[],
  outcome: TransactOutcome['outcome'],
  keys: LedgerKeys,
): WriteUnits {
  if (outcome === 'throttled') return NOTHING;
  let table = 0;
  let index = 0;
  for (const write of writes) {
    table += 2 * Math.max(1, Math.ceil(bytesOf(write, keys) / 1024));
    if (outcome === 'committed') index += indexWrites(write);
  }
  return { table, index };
}

function bytesOf(write: Write, keys: LedgerKeys): number {
  switch (write.kind) {
    case 'record':
      return itemBytes(recordItem(write.record, keys));
    case 'entry':
      return itemBytes(encodeEntry(write.entry, keys));
    case 'closing':
      return itemBytes(encodeClosing(write.closing, keys));
    case 'reset':
      return itemBytes(encodeReset(write, keys));
    case 'counter':
      // The item holds sums rather than these amounts, which adds some bytes to two hundred.
      return itemBytes(
        encodeCounter(
          { ...write, unchecked: { ...NO_AMOUNTS.unchecked, ...write.unchecked }, rev: 1 },
          keys,
          write.expiresAtSeconds,
          write.closeAtMs,
        ),
      );
  }
}

/**
 * One to add, one to remove; an entry whose due time does not change costs nothing. A counter is in the index from its
 * first write, which these figures leave out, until the reset that closes its period.
 */
function indexWrites(write: Write): number {
  if (write.kind === 'reset') return 1;
  if (write.kind !== 'record') return 0;
  const before = write.replaces?.dueAtMs;
  const after = write.record.dueAtMs;
  if (before === after) return 0;
  return (before === undefined ? 0 : 1) + (after === undefined ? 0 : 1);
}
