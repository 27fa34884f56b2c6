/** The bound of a limit in whole units: its amount plus what it lets pass beyond. */
import { type Limit, SHARE_PARTS } from '../../../../../policies/limits/limit.ts';
import type { Fields, FieldValue } from '../../changes/change-row.ts';
import { binds } from '../../changes/effects.ts';
import { limitFields } from '../../changes/fields.ts';

/** Without grants. Infinity: no bound. */
export const reachOfLimit = (limit: Limit): number =>
  binds(limit) ? (reachOfFields(limitFields(limit)) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;

/** The bound by a limit's fields in the change log. Undefined: there was no limit. */
export function reachOfFields(fields: Fields): number | undefined {
  const amount = fields.get('amount');
  if (amount === undefined) return undefined;
  if (typeof amount !== 'number' || fields.get('mode') !== 'enforce') return Number.POSITIVE_INFINITY;
  return amount + partOf(fields.get('grace'), amount) + partOf(fields.get('carry'), amount);
}

/** `20%` of the amount, or whole units. */
function partOf(value: FieldValue | undefined, amount: number): number {
  if (typeof value === 'number') return value;
  const share = typeof value === 'string' ? /^([\d.]+)%$/.exec(value)?.[1] : undefined;
  if (share === undefined) return 0;
  return Number(
    (BigInt(amount) * BigInt(Math.round((Number(share) * SHARE_PARTS) / 100))) / BigInt(SHARE_PARTS),
  );
}
