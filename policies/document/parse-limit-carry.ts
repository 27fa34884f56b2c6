import type { Limit } from '../limits/limit.ts';
import type { PeriodKind } from '../limits/period.ts';
import type { LimitKind } from '../units/unit.ts';
import { isSpent, SPENT_KINDS } from '../units/unit.ts';
import { type Margin, readMargin } from './parse-limit-amount.ts';
import type { Reading } from './reading.ts';

export const CARRY_KEYS = ['carry', 'overdraft'] as const;

const OVERDRAFTS = ['absorb', 'carry', 'alert'] as const;

/** Something is written for each period of a limit that carries over: not every minute. */
const CARRYING: readonly (PeriodKind | undefined)[] = ['day', 'week', 'month', 'quarter', 'year'];

interface Carrying {
  readonly kind: LimitKind;
  readonly amount: number | 'unlimited' | undefined;
  readonly per: PeriodKind | undefined;
  /** Empty: that of all personal namespaces. */
  readonly subject: string;
}

/** Reads `carry: {max: 20%}` and `overdraft` of a limit. */
export function readCarry(
  reading: Reading,
  of: Carrying,
): Pick<Limit, 'carryMax' | 'carryShare' | 'overdraft'> {
  const carry = reading.at('carry');
  const overdraft = reading.at('overdraft');
  const word = overdraft.isThere
    ? overdraft.oneOf('what becomes of what is spent past the limit', OVERDRAFTS)
    : undefined;
  if (overdraft.isThere && !isSpent(of.kind))
    overdraft.expected(`nothing: only ${SPENT_KINDS.join(' and ')} can be overdrawn`);
  if (word === 'carry') checkCarries(overdraft, of);
  const { units: carryMax, share: carryShare } = (carry.isThere && readCarryMax(carry, of)) || {};
  return {
    ...(carryMax !== undefined && { carryMax }),
    ...(carryShare !== undefined && { carryShare }),
    ...(word !== undefined && word !== 'absorb' && { overdraft: word }),
  };
}

function readCarryMax(carry: Reading, of: Carrying): Margin | undefined {
  if (!carry.object(['max']) || !checkCarries(carry, of)) return undefined;
  if (of.amount === undefined || of.amount === 'unlimited') return undefined;
  const max = carry.at('max');
  if (!max.isThere) return max.expected('the most that is carried over: a share such as 20%, or an amount');
  const read = readMargin(max, of.kind, of.amount);
  return read !== undefined && read.units > of.amount ? max.expected('at most the limit itself') : read;
}

function checkCarries(reading: Reading, { kind, amount, per, subject }: Carrying): boolean {
  if (amount === 'unlimited' || amount === 0) {
    reading.expected('nothing: only a limit with an amount has something to carry over');
  } else if (!isSpent(kind) || !CARRYING.includes(per)) {
    reading.expected(`nothing: only ${SPENT_KINDS.join(' and ')} per ${CARRYING.join(', ')} carry over`);
  } else if (subject === '') {
    reading.expected('nothing: give the group or personal namespace a limit of its own to carry over');
  } else return true;
  return false;
}
