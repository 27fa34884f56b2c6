/** When the table does not do what it is asked: now and then by chance, and for ten minutes altogether. */
import type { StoreFault, StoreOperation } from '../../../functions/core/ledger/memory-store.ts';
import { TABLE_FAULTS, TABLE_SILENT } from './workload.ts';

export const isSilent = (nowMs: number): boolean =>
  nowMs >= TABLE_SILENT.fromMs && nowMs < TABLE_SILENT.untilMs;

export function faultAt(
  operation: StoreOperation,
  nowMs: number,
  random: () => number,
): StoreFault | undefined {
  if (isSilent(nowMs)) return { kind: 'lost-before' };
  if (operation !== 'transact') return undefined;
  const share = random();
  if (share < TABLE_FAULTS.conflict) return { kind: 'conflict' };
  if (share < TABLE_FAULTS.conflict + TABLE_FAULTS.throttle) return { kind: 'throttle' };
  const lost = TABLE_FAULTS.conflict + TABLE_FAULTS.throttle + TABLE_FAULTS.lostAnswer;
  return share < lost ? { kind: 'lost-after' } : undefined;
}
