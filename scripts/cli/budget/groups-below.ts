import { agreementDayKeys } from '../../../functions/core/usage/budget-agreement.ts';
import {
  firstOfMonth,
  type GroupSum,
  groupSum,
  type UsedInMonth,
  usedTogether,
} from '../../../functions/core/usage/group-sum.ts';
import { usageOf } from '../../../functions/core/usage/usage.ts';
import { dayNumber } from '../../../policies/limits/calendar.ts';
import { dayIn } from '../../../policies/limits/zone.ts';
import { bareAmountText } from '../../../policies/text/amount-text.ts';
import type { DeskIo } from '../../terminal/command.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { count } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
import type { Budget } from './open-budget.ts';
import { subjectLabel } from './subject-word.ts';

/** As many as the group's page in the console has. A month of days is read of each. */
const GROUPS_MAX = 25;

export interface GroupsBelow extends GroupSum {
  /** Right below, by path, at most 25. */
  readonly groups: readonly (UsedInMonth & { readonly subject: string })[];
}

/** What the groups right below used this month, and with what it comes to the group's own usage; undefined: there are none. */
export async function groupsBelow(
  subject: string,
  { rollup, directory }: Pick<Budget, 'rollup' | 'directory'>,
  io: Pick<DeskIo, 'env' | 'nowMs'>,
): Promise<GroupsBelow | undefined> {
  const parentId = subject === 'instance' ? undefined : Number(/^group\/(\d+)$/.exec(subject)?.[1]);
  const below = [...directory.groupById.values()]
    .filter((group) => group.parentId === parentId && !group.personal)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  if (below.length === 0) return undefined;
  const zone = rollupZone(io);
  const nowMs = io.nowMs();
  const days = agreementDayKeys({ from: firstOfMonth(zone, nowMs), to: dayNumber(dayIn(zone, nowMs)) });
  const used = async (whose: string): Promise<UsedInMonth> =>
    usedTogether((await rollup.readUsage(days.map((day) => ({ subject: whose, day })))).map(usageOf));
  const groups: (UsedInMonth & { readonly subject: string })[] = [];
  for (const { id } of below.slice(0, GROUPS_MAX)) {
    const whose = `group/${id}`;
    groups.push({ subject: whose, ...(await used(whose)) });
  }
  return { groups, ...groupSum(subject, await used(subject), groups, below.length) };
}

/** A line for each group, one for the rest, one for the total. */
export function groupsBelowText(
  subject: string,
  { groups, rest, restLabel, total }: GroupsBelow,
  { directory, policy }: Pick<Budget, 'directory' | 'policy'>,
  columns: number,
  paint: Paint,
): string {
  const row = (label: string, { settledMicros, heldMicros, jobs }: UsedInMonth): readonly string[] => [
    printable(label),
    bareAmountText(settledMicros + heldMicros, 'micros', 'nearest'),
    count(jobs),
  ];
  const rows = [
    ...groups.map((each) => row(subjectLabel(each.subject, directory), each)),
    row(restLabel, rest),
    row(subjectLabel(subject, directory), total),
  ];
  const right = { align: 'right' } as const;
  const titles = [{ title: 'this month' }, { title: policy.currency, ...right }, { title: 'jobs', ...right }];
  return `\n${table(titles, rows, columns, paint.dim)}`;
}
