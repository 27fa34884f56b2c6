/** Exported items back into a table: each where it is absent or older, so that reading back twice changes nothing. */
import { CLOSED_AT, REV } from '../ledger/index.ts';
import {
  absent,
  answered,
  any,
  compare,
  type InstanceTable,
  type Item,
  putItem,
  SK,
  TimeLimit,
  TTL_ATTRIBUTE,
  unavailable,
} from '../store/index.ts';
import type { ExportedKind } from './exported-image.ts';

/** `kept`: the table has it already, as new or newer. */
type Restored = 'restored' | 'kept';

export type RestoreItem = (item: Item, kind: ExportedKind) => Promise<Restored>;

const TIMEOUT_MS = 15_000;

export const dynamoRestore =
  ({ table }: Pick<InstanceTable, 'table'>): RestoreItem =>
  async (item, kind) => {
    const risen = risingAttribute(item, kind);
    const value = risen === undefined ? undefined : item[risen];
    const older =
      risen === undefined || value === undefined ? absent() : any([absent(), compare(risen, '<', value)]);
    const { outcome } = await answered('put back an item', unavailable(table), () =>
      putItem(table, item, new TimeLimit(TIMEOUT_MS), older),
    );
    return outcome === 'written' ? 'restored' : 'kept';
  };

/** What rises with every write of an item of this kind; undefined: it is written once. */
function risingAttribute(item: Item, kind: ExportedKind): string | undefined {
  if (kind === 'record') return REV;
  if (kind === 'closing') return CLOSED_AT;
  if (kind !== 'limits') return undefined;
  // The pointer has the number of its edit, a request its revision; a set's chunks, the log and openings stay as they are.
  if (item[SK]?.S === 'pointer') return 'ed';
  return item.rv === undefined ? undefined : 'rv';
}

/** Garbage collection would take it at once. @param nowMs - Unix ms */
export const isExpired = (item: Item, nowMs: number): boolean =>
  Number(item[TTL_ATTRIBUTE]?.N ?? Number.POSITIVE_INFINITY) * 1000 <= nowMs;
