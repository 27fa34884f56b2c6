/** What a change asks of its author beside the right to make it. */

import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import type { ChangeRow } from '../changes/change-row.ts';
import type { ApprovalSettings } from './contract.ts';

/** A typing error of one digit is ten times as much. */
const JUMP = 3;

/** A grant of more than half of what there is, is another limit, and that takes two people. */
export const APPROVAL_DEFAULT: ApprovalSettings = { abovePercent: 50 };

/**
 * Amounts that become more than three times, or less than a third of, what they were, 0 and `unlimited` included; and
 * modes of limits and rollouts that become milder, after which jobs pass that were rejected.
 */
export const toConfirm = (rows: readonly ChangeRow[]): readonly ChangeRow[] =>
  rows.filter((row) => {
    const { about, field, from, to, effect } = row;
    if (isMilder(row)) return true;
    if (about !== 'limit' || field !== 'amount' || effect === 'neutral' || from === null || to === null)
      return false;
    if (typeof from !== 'number' || typeof to !== 'number') return true;
    return (to === 0 && from !== 0) || to > from * JUMP || to * JUMP < from;
  });

/** A limit that goes as a whole says so by itself. */
export const isMilder = ({ about, field, effect, whole }: ChangeRow): boolean =>
  effect === 'loosens' &&
  field === 'mode' &&
  (about === 'rollout' || (about === 'limit' && whole === undefined));

/** Grants that are new, larger or longer, where all that the limit then has of them comes to more than the threshold. */
export const toApprove = (
  rows: readonly ChangeRow[],
  before: LimitSet,
  after: LimitSet,
  nowMs: number,
  { abovePercent }: ApprovalSettings,
): readonly ChangeRow[] =>
  rows.filter(({ about, subject, limit: id, effect }) => {
    if (about !== 'grant' || effect !== 'loosens') return false;
    const granted = limitOf(after, subject, id)?.grants ?? [];
    // Of the limit as it was: nobody raises it in the same edit to get round this. Many small grants are a large one.
    const { amount } = limitOf(before, subject, id) ?? { amount: 0 };
    const sum = granted.reduce((all, grant) => all + (grant.untilMs > nowMs ? grant.amount : 0), 0);
    return amount !== 'unlimited' && BigInt(sum) * 100n > BigInt(amount) * BigInt(abovePercent);
  });

const limitOf = (set: LimitSet, subject: string, id: string): Limit | undefined =>
  limitsOn(set, subject).find((each) => each.id === id);
