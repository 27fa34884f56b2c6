import type { Limit } from '../limits/limit.ts';
import { isAtOnce, LIMIT_KINDS, type LimitKind } from '../units/unit.ts';
import { isName, NAME_EXPECTED } from './parse-entry.ts';
import { readMargin } from './parse-limit-period.ts';
import type { Reading } from './reading.ts';

export const COHORT_KEYS = ['cohort', 'borrow', 'lend'] as const;

/** Reads `cohort: ci`, `borrow: 5` and `lend: 50%`. */
export function readCohort(
  reading: Reading,
  kind: LimitKind,
  amount: number | 'unlimited' | undefined,
  subject: string,
): Pick<Limit, 'cohort' | 'borrow' | 'borrowShare' | 'lend' | 'lendShare'> {
  const [cohort, borrow, lend] = [reading.at('cohort'), reading.at('borrow'), reading.at('lend')];
  if (!cohort.isThere) {
    for (const each of [borrow, lend])
      if (each.isThere)
        each.refuse('needs a cohort, such as `cohort: ci`: the limits it borrows from and lends to');
    return {};
  }
  if (!isAtOnce(kind)) {
    const kinds = LIMIT_KINDS.filter(isAtOnce);
    cohort.refuse(
      `is on a limit of ${kind}, which is not given back; only ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)} can be lent`,
    );
    return {};
  }
  if (!subject.startsWith('group/'))
    cohort.refuse('is on a limit of no single group: only groups lend and borrow');
  for (const each of ['soft', 'grace'] as const)
    if (reading.at(each).isThere)
      reading.at(each).expected('nothing on a limit in a cohort: it borrows instead');
  if (amount === 'unlimited')
    cohort.refuse('is on an unlimited limit, which has nothing to lend and no need to borrow');
  const name = cohort.text(NAME_EXPECTED, isName);
  if (name === undefined || typeof amount !== 'number') return {};
  const borrowing = readPart(borrow, kind, amount);
  const lending = readPart(lend, kind, amount);
  if (amount + (borrowing?.units ?? 0) > Number.MAX_SAFE_INTEGER)
    borrow.expected('less: limit and loan together are too large to count');
  if (lending !== undefined && lending.units > amount) lend.expected('at most as much as the limit itself');
  return {
    cohort: name,
    ...(borrowing !== undefined &&
      (borrowing.share === undefined ? { borrow: borrowing.units } : { borrowShare: borrowing.share })),
    ...(lending !== undefined &&
      (lending.share === undefined ? { lend: lending.units } : { lendShare: lending.share })),
  };
}

/** `0` is nothing. */
const readPart = (reading: Reading, kind: LimitKind, amount: number): ReturnType<typeof readMargin> =>
  reading.value === 0 || reading.value === '0' ? { units: 0 } : readMargin(reading, kind, amount);
