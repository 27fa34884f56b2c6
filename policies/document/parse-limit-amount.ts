import type { Limit } from '../limits/limit.ts';
import { SHARE_PARTS, shareOf } from '../limits/share.ts';
import type { LimitKind } from '../units/unit.ts';
import { readUnits } from '../units/written.ts';
import { readDecimal } from './decimal.ts';
import type { Reading } from './reading.ts';

const LIFT = "0 blocks, 'unlimited' lifts the limit";

/** Reads a limit's number in whole units. */
export function readAmount(reading: Reading, kind: LimitKind): number | 'unlimited' | undefined {
  if (reading.value === 'unlimited') return 'unlimited';
  const read = readUnits(reading.value, kind);
  return read.ok ? read.amount : reading.expected(`${read.expected}; ${LIFT}`);
}

/** Reads `soft` and `grace`: a share of the limit (`80%`), or an amount in its own unit. */
export function readMargins(
  reading: Reading,
  kind: LimitKind,
  amount: number | 'unlimited' | undefined,
): Pick<Limit, 'softAmount' | 'softShare' | 'graceAmount' | 'graceShare'> {
  const soft = reading.at('soft');
  const grace = reading.at('grace');
  for (const margin of [soft, grace]) {
    if (margin.isThere && (amount === 'unlimited' || amount === 0))
      margin.expected('nothing: only a limit with an amount has a soft part or a grace');
  }
  if (amount === undefined || amount === 'unlimited' || amount === 0) return {};
  const { units: softAmount, share: softShare } = readMargin(soft, kind, amount) ?? {};
  const { units: graceUnits, share: graceShare } = readMargin(grace, kind, amount) ?? {};
  if (softAmount !== undefined && softAmount >= amount) soft.expected('less than the limit itself');
  if (graceUnits !== undefined && graceUnits > amount) grace.expected('at most as much as the limit itself');
  const graceAmount = graceUnits === undefined ? undefined : amount + graceUnits;
  if (graceAmount !== undefined && !Number.isSafeInteger(graceAmount))
    grace.expected('less: limit and grace together are too large to count');
  return {
    ...(softAmount !== undefined && { softAmount }),
    ...(softShare !== undefined && { softShare }),
    ...(graceAmount !== undefined && { graceAmount }),
    ...(graceShare !== undefined && { graceShare }),
  };
}

export interface Margin {
  readonly units: number;
  /** In `SHARE_PARTS`, if it was written as a share. */
  readonly share?: number;
}

/** Reads `80%` or an amount. Shares are exact and rounded down to whole units, never to nothing. */
export function readMargin(reading: Reading, kind: LimitKind, amount: number): Margin | undefined {
  if (!reading.isThere) return undefined;
  const share = typeof reading.value === 'string' && /^[^%]+%$/.test(reading.value);
  if (!share) {
    const read = readUnits(reading.value, kind);
    if (!read.ok) return reading.expected(`a share of the limit such as 80%, or ${read.expected}`);
    return read.amount > 0 ? { units: read.amount } : reading.expected('more than nothing');
  }
  const percent = readDecimal(String(reading.value).slice(0, -1), SHARE_PARTS / 100);
  if (!percent.ok) return reading.expected('a share of the limit such as 80% or 12.5%');
  const units = shareOf(amount, percent.amount);
  if (units > Number.MAX_SAFE_INTEGER) return reading.expected('at most 100%');
  return units > 0
    ? { units, share: percent.amount }
    : reading.expected('more: this share of the limit is less than one unit');
}
