import { firstOfMonth, type GroupSum, groupSum } from '../../core/usage/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { type GroupRowsContext, meteredOf } from './group-rows.ts';
import type { GroupRow, OverviewQuery } from './model.ts';

/**
 * Sums the rows of one level of the tree with this month's days of the group above. Undefined: the rows are
 * not a level, or the group above is not visible.
 *
 * @throws {LedgerError}
 */
export async function stepSum(
  under: OverviewQuery['under'],
  rows: readonly GroupRow[],
  { places, scope, nowMs }: GroupRowsContext,
  reading: ReadContext,
): Promise<GroupSum | undefined> {
  if (under === undefined || !(under === 'roots' ? scope.seesAll : scope.seesGroup(under))) return undefined;
  const subject = under === 'roots' ? 'instance' : `group/${under}`;
  const from = firstOfMonth(reading.zone, nowMs);
  const days = await readDays([subject], { from, to: today(reading.zone, nowMs) }, reading.usage);
  const listed = rows.map(({ metered }) => metered);
  const below = under === 'roots' ? listed.length : (places.childrenOf.get(under)?.length ?? 0);
  return groupSum(subject, meteredOf(days.get(subject) ?? [], from), listed, below);
}
