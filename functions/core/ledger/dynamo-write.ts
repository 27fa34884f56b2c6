/** The ledger's writes as writes of items. The condition on a counter is the check: there is no read before it. */

import {
  absent,
  all,
  any,
  atRev,
  DUE_AT,
  DUE_PK,
  type ItemCondition,
  type ItemWrite,
  type LedgerKeys,
  numberIs,
  type PutWrite,
  present,
  putOf,
  TTL_ATTRIBUTE,
  type UpdateWrite,
  versioned,
} from '../store/index.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import type { CorrectionEntry } from './entry.ts';
import {
  CLOSED_AT,
  COMMITTED,
  encodeAdjustment,
  encodeClosing,
  encodeEntry,
  encodeReset,
  FITTED,
  REV,
  SETTLED,
  UNCHECKED,
} from './item.ts';
import type { JobRecord } from './ledger.ts';
import { recordItem } from './record-size.ts';
import type { CounterWrite, Write } from './store.ts';

export function itemWrite(write: Write, keys: LedgerKeys): ItemWrite {
  switch (write.kind) {
    case 'record':
      return putOf(recordItem(write.record, keys), sameAs(REV, write.replaces?.rev), 'old');
    case 'counter':
      return counterUpdate(write, keys);
    case 'entry':
      return putOf(encodeEntry(write.entry, keys), absent(), 'old');
    case 'closing':
      return putOf(encodeClosing(write.closing, keys), sameAs(CLOSED_AT, write.replaces?.closedAtMs), 'old');
    case 'adjustment':
      return putOf(encodeAdjustment(write.adjustment, keys), absent(), 'old');
    case 'reset':
      return putOf(encodeReset(write, keys), atRev(REV, write.rev), 'old');
  }
}

/** The item it replaces has this value; undefined: there must be no item. */
const sameAs = (attribute: string, value: number | undefined): ItemCondition =>
  value === undefined ? absent() : numberIs(attribute, '=', value);

/** At its own rev: the same record in other words. */
export const rewriteOf = (record: JobRecord, keys: LedgerKeys): PutWrite =>
  putOf(recordItem(record, keys), numberIs(REV, '=', record.rev));

export const rewriteOfEntry = (entry: CorrectionEntry, keys: LedgerKeys): PutWrite =>
  putOf(encodeEntry(entry, keys), present());

function counterUpdate(write: CounterWrite, keys: LedgerKeys): UpdateWrite {
  const add: Record<string, number> = {
    [COMMITTED]: write.committed,
    [FITTED]: write.fitted,
    [SETTLED]: write.settled,
    [REV]: 1,
  };
  for (const cause of UNCHECKED_CAUSES) {
    const amount = write.unchecked[cause] ?? 0;
    if (amount !== 0) add[UNCHECKED[cause]] = amount;
  }
  const bounds = [...atMost(COMMITTED, write.maxCommitted), ...atMost(FITTED, write.maxFitted)];
  const [bound, ...others] = bounds;
  return {
    kind: 'update',
    key: keys.counter(write.key),
    setIfAbsent: versioned,
    set: {
      ...(write.expiresAtSeconds !== undefined && { [TTL_ATTRIBUTE]: { N: String(write.expiresAtSeconds) } }),
      ...(write.closeAtMs !== undefined && {
        [DUE_PK]: { S: keys.closingPk(write.key) },
        [DUE_AT]: { N: String(write.closeAtMs) },
      }),
    },
    add,
    ...(bound !== undefined && { condition: others.length === 0 ? bound : all(bounds), showsOld: true }),
  };
}

/** An absent counter is one of zeros; without its arm even the first batch of a period meets a bound below its own sum. */
function atMost(attribute: string, max: number | undefined): readonly ItemCondition[] {
  if (max === undefined) return [];
  const fits = numberIs(attribute, '<=', max);
  return [max >= 0 ? any([absent(attribute), fits]) : fits];
}
