import type { CounterSnapshot } from '../claim.ts';
import { grantedAt, grantedWithin, grantsOf, type Limit } from './limit.ts';
import { limitPeriod } from './limits.ts';

export const carriesOver = ({ amount, carryMax, overdraft }: Limit): boolean =>
  amount !== 'unlimited' && (carryMax !== undefined || overdraft === 'carry');

interface PeriodEnd extends CounterSnapshot {
  readonly carried: number;
}

/**
 * Returns the amount carried into the period open at `nowMs`, in whole units; negative for an overdraft.
 *
 * It counts only certain amounts: held amounts are not left over, and only settled amounts are overdrawn. A
 * grant that has ended leaves nothing, but its use is not overdrawn. The base is today's.
 */
export function carriedInto(limit: Limit, nowMs: number, end: PeriodEnd): number {
  const { amount: base, carryMax = 0, overdraft } = limit;
  const grants = grantsOf(limit);
  const period = limitPeriod(limit, nowMs);
  if (base === 'unlimited' || period === undefined || !Number.isFinite(period.startMs)) return 0;
  const before = limitPeriod(limit, period.startMs - 1);
  if (before === undefined) return 0;
  const own = Math.max(0, base + end.carried);
  const overdrawn = end.settled - own - grantedWithin(grants, before.startMs, before.endMs);
  if (overdrawn > 0) return overdraft === 'carry' ? -overdrawn : 0;
  const left = own + grantedAt(grants, before.endMs - 1) - end.committed;
  return Math.max(0, Math.min(left, carryMax));
}
