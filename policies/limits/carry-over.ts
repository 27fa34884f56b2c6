import type { CounterSnapshot } from '../claim.ts';
import { grantedAt, grantedWithin, grantsOf } from './grant.ts';
import type { Limit } from './limit.ts';
import { limitPeriod } from './limits.ts';

/** Whether what a period leaves changes what the next one has. */
export const carriesOver = ({ amount, carryMax, overdraft }: Limit): boolean =>
  amount !== 'unlimited' && (carryMax !== undefined || overdraft === 'carry');

/** How the period before ended. */
interface PeriodEnd extends CounterSnapshot {
  /** What had been carried into it. */
  readonly carried: number;
}

/**
 * What the period that is open at `nowMs` gets from the one before, in whole units; below 0 what is taken from it.
 * Never more than is certain, either way: what jobs still hold is not left over, and only what is settled is overdrawn.
 * A grant that has ended leaves nothing, but what was spent under it is not overdrawn. The base is the one of today.
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
