import { grantedAt } from './grant.ts';
import type { Limit } from './limit.ts';
import { limitPeriod } from './limits.ts';
import { shareOf } from './share.ts';

/**
 * The limit as it is at an instant: base + carried over + active grants, with its soft part and its grace moved along.
 * An overdraft takes at most the base: what is granted to help is there to help.
 */
export function limitAt(limit: Limit, nowMs: number): Limit {
  const { amount: base, grants = [], opening } = limit;
  // Most limits are what was written.
  if (base === 'unlimited' || (grants.length === 0 && opening === undefined)) return limit;
  const carried = opening?.period === limitPeriod(limit, nowMs)?.key ? (opening?.carried ?? 0) : 0;
  const amount = Math.max(0, base + carried) + grantedAt(grants, nowMs);
  if (amount === base) return limit;
  const inForce = withAmount(limit, base, amount);
  return carried < 0 ? { ...inForce, overdrawn: -carried } : inForce;
}

function withAmount(limit: Limit, base: number, amount: number): Limit {
  const { softAmount: soft, graceAmount: grace, softShare, graceShare, ...rest } = limit;
  const softAmount = softShare === undefined ? soft : shareOf(amount, softShare);
  const graceUnits = graceShare === undefined ? grace && grace - base : shareOf(amount, graceShare);
  return {
    ...rest,
    amount,
    ...(softAmount !== undefined && softAmount > 0 && softAmount < amount && { softAmount }),
    ...(graceUnits !== undefined && graceUnits > 0 && { graceAmount: amount + graceUnits }),
  };
}
