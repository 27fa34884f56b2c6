/** Lists every group of a subject with the cost of its own projects: lines that add up, for files. */

import { calendarDay, dayStartMs } from '../../../policies/limits/calendar.ts';
import { addSumTo, emptySum, type SheetSum, sumWithout } from '../../core/sheets/index.ts';
import { readSums, rowIdOf } from '../reading/read-sums.ts';
import type { ReadContext } from '../reading/reading.ts';
import { type Places, subjectLabelOf } from '../reading/scope.ts';
import { type DaySpan, dayText } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { SpendLine, SpendListAnswer, SpendQuery } from './model.ts';
import { askedSpend, type SpendSource } from './report.ts';
import { periodBefore } from './report-period.ts';
import { figuresOf } from './spend-rows.ts';

/** Subgroups have lines of their own. @throws {LedgerError} */
export const spendListOf =
  (reading: ReadContext) =>
  async (asked: Omit<SpendQuery, 'by' | 'top' | 'project'>, viewer: Viewer): Promise<SpendListAnswer> => {
    const found = await askedSpend(asked, viewer, reading);
    if ('outcome' in found) return found;
    const { subject, period, places } = found;
    const [now, then] = await Promise.all([
      sumsOf(found, period, true),
      asked.compare === false ? new Map<number, SheetSum>() : sumsOf(found, periodBefore(period), false),
    ]);
    const { zone, policy, books } = reading;
    return {
      outcome: 'listed',
      list: {
        ...{ subject, path: subjectLabelOf(subject, places.directory), currency: policy.currency, zone },
        ...{ fromDay: dayText(period.from), toDay: dayText(period.to) },
        startMs: dayStartMs(zone, calendarDay(period.from)),
        endMs: dayStartMs(zone, calendarDay(period.to + 1)),
        instance: books?.instance ?? '',
        lines: linesOf(found, now, then),
        total: figuresOf(now.get(rowIdOf(subject)) ?? emptySum()),
      },
    };
  };

async function sumsOf({ subject, places, source }: SpendSource, span: DaySpan, later: boolean) {
  const sums = new Map<number, SheetSum>();
  const rows = new Map(groupsIn(subject, places).map(({ id }) => [id, `group/${id}`]));
  const own = rowIdOf(subject);
  await readSums({ ...span, kind: 'group', byDay: false, later, of: subject, rows }, source, (id, sum) => {
    if (id === own || rows.has(id)) addSumTo(sums, id, sum);
  });
  return sums;
}

/** In order of paths, with the group itself. */
function groupsIn(subject: string, { groups, directory }: Places): Places['groups'] {
  if (subject === 'instance') return groups;
  const top = rowIdOf(subject);
  return groups.filter(({ id }) => directory.chainById.get(id)?.some((above) => above.id === top));
}

type Sums = ReadonlyMap<number, SheetSum>;

function linesOf({ subject, places }: SpendSource, now: Sums, then: Sums): readonly SpendLine[] {
  const { childrenOf, directory, groups } = places;
  const roots = groups.filter(({ parentId }) => parentId === undefined);
  const line = (sums: { readonly own: SheetSum; readonly before: SheetSum }, withBelow: SheetSum) => ({
    ...figuresOf(sums.own),
    withBelowMicros: figuresOf(withBelow).micros,
    beforeMicros: figuresOf(sums.before).micros,
  });
  const ownOf = (sums: Sums, id: number, below: readonly { readonly id: number }[]): SheetSum =>
    sumWithout(
      sums.get(id) ?? emptySum(),
      below.map((each) => sums.get(each.id) ?? emptySum()),
    );
  const lines = groupsIn(subject, places).flatMap(({ id, path }): SpendLine[] => {
    if (!now.has(id) && !then.has(id)) return [];
    const below = childrenOf.get(id) ?? [];
    const [root] = directory.chainById.get(id) ?? [];
    const own = { own: ownOf(now, id, below), before: ownOf(then, id, below) };
    return [
      {
        ...{ groupId: id, path, ...line(own, now.get(id) ?? emptySum()) },
        ...(root !== undefined && { rootId: root.id, rootPath: root.path }),
      },
    ];
  });
  if (subject !== 'instance') return lines;
  const rest = { own: ownOf(now, rowIdOf(subject), roots), before: ownOf(then, rowIdOf(subject), roots) };
  const isRest = [...rest.own, ...rest.before].some((value) => value !== 0);
  return isRest ? [...lines, { path: '', ...line(rest, rest.own) }] : lines;
}
