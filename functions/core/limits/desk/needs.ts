/** What a change asks of its author beside the right to make it. */
import type { ChangeRow } from '../changes/change-row.ts';

/** A typing error of one digit is ten times as much. */
const JUMP = 3;

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
