import { firstOfMonth, type GroupSum, groupSum } from '../../core/usage/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { type GroupRowsContext, meteredOf } from './group-rows.ts';
import type { GroupRow, OverviewQuery } from './model.ts';

/**
 * What the rows of one step of the tree add up with; reads this month's days of the group above them. Undefined: the rows
 * are no step, or the viewer does not see what is above them.
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
