import { type DirectoryGroup, pathKey } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { counterOf, limitsOn } from '../../../policies/limits/limits.ts';
import { isMoney } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { firstOfMonth, usedTogether } from '../../core/usage/sums.ts';
import type { CallerView, ReadContext } from '../reading/context.ts';
import { readManyDays } from '../reading/read-sums.ts';
import { ancestorsOf, byPath, subjectLabelOf } from '../reading/scope.ts';
import { type DayUsage, dayText, today } from '../reading/usage-days.ts';
import { freezeRows, frozenNow, limitRows } from '../status/limit-row.ts';
import type { LimitRow } from '../status/model.ts';
import { historySpan } from '../status/outlook.ts';
import { compareRisks, refusalsNow, riskOf } from '../status/risk.ts';
import { isBudget, leading, limitsInForce } from '../status/subject-limits.ts';
import type { GroupRow, MeteredUsage, OverviewQuery } from './model.ts';

export interface RowPlace {
  readonly subject: string;
  readonly path: string;
  readonly group?: DirectoryGroup;
}

export const groupPlaceOf = (group: DirectoryGroup): RowPlace => ({
  ...{ subject: `group/${group.id}`, path: group.path, group },
});

/** Builds rows of at most 101 places, from counters, four weeks of usage and the latest rejections. @throws {LedgerError} */
export async function groupRows(
  places: readonly RowPlace[],
  view: CallerView,
  reading: ReadContext,
): Promise<readonly GroupRow[]> {
  const { limits, directory, nowMs } = view;
  const { policy, zone } = reading;
  const all = places.map((place) => ({ place, havings: limitsInForce(place.subject, view) }));
  const monthFrom = firstOfMonth(zone, nowMs);
  const history = historySpan(today(zone, nowMs));
  const budgets = all.flatMap(({ havings }) => havings.filter(({ limit }) => isBudget(limit)));
  const [counters, usage] = await Promise.all([
    reading.counters.fresh(budgets.map(({ limit }) => counterOf(limit, nowMs))),
    readManyDays(
      places.map(({ subject }) => subject),
      { from: Math.min(monthFrom, history.from), to: history.to },
      reading,
    ),
  ]);
  const refusals = await refusalsNow(usage, nowMs, reading);
  const rowOf = limitRows({ limits, directory, policy, counters, usage, refusals, nowMs });
  return all.map(({ place, havings }): GroupRow => {
    const { subject } = place;
    const budget = firstToRunOut(havings.filter(({ limit }) => isBudget(limit)).map(rowOf));
    const { id: groupId, parentId = 0, personal = false } = place.group ?? {};
    return {
      ...{ subject, path: place.path, personal },
      children: view.places.childrenOf.get(groupId ?? 0)?.length ?? 0,
      metered: meteredOf(usage.get(subject) ?? [], monthFrom),
      ...(view.scope.seesGroup(parentId) && parentId > 0 && { parentId }),
      ...withoutAbsent({ groupId, budget, frozen: frozenNow(freezeRows(subject, view), nowMs) }),
    };
  });
}

/**
 * Finds the limit that leads a group's row: the one with the highest risk among those that reject jobs. Limits that only
 * warn lead if there is no other. Limits that last are ordered with money before minutes, then by share.
 */
export function firstToRunOut(rows: readonly LimitRow[]): LimitRow | undefined {
  const isAbove = (one: LimitRow, other: LimitRow): boolean => {
    const [a, b] = [riskOf(one), riskOf(other)];
    return a.atMs === b.atMs && one.kind !== other.kind ? isMoney(one.kind) : compareRisks(a, b) < 0;
  };
  const [first, ...others] = leading(rows, ({ rolledOutAs, mode }) => rolledOutAs ?? mode);
  return first && others.reduce((best, row) => (isAbove(row, best) ? row : best), first);
}

const meteredOf = (days: readonly DayUsage[], fromDay: number): MeteredUsage => ({
  ...usedTogether(days.filter(({ number }) => number >= fromDay)),
  sinceDay: dayText(fromDay),
});

const SEARCH_CHARACTERS_MAX = 200;

export const searchKey = (search = ''): string => pathKey(search.trim().slice(0, SEARCH_CHARACTERS_MAX));

/**
 * Lists visible matches by path, from memory. Personal namespaces, one per user, appear only in searches or with their own
 * limit; other subjects only with a budget, and in searches with any limit.
 */
export function matchingPlaces(
  { search: text, under, mine }: OverviewQuery,
  view: CallerView,
): readonly RowPlace[] {
  const { limits, directory, scope } = view;
  const search = searchKey(text);
  const groups = groupsUnder(under, view)
    .filter(
      ({ id, path, personal }) =>
        (search === '' || pathKey(path).includes(search)) &&
        (mine !== true || scope.ownsGroup(id)) &&
        (!personal || search !== '' || limitsOn(limits, `group/${id}`).length > 0),
    )
    .map(groupPlaceOf);
  // A level of the tree has only groups.
  if (under !== undefined) return groups;
  const others = [...limits.bySubject].flatMap(([subject, own]): RowPlace[] => {
    if (subject === 'instance' || subject.startsWith('group/') || isCap(subject) || !scope.sees(subject))
      return [];
    if (search === '' && !own.some(isBudget)) return [];
    const path = subjectLabelOf(subject, directory);
    const isFound = pathKey(path).includes(search) || subject.includes(search);
    const isMine = mine !== true || ancestorsOf(subject, directory).some(({ id }) => scope.ownsGroup(id));
    return isFound && isMine ? [{ subject, path }] : [];
  });
  return others.length === 0 ? groups : [...groups, ...others].sort(byPath);
}

function groupsUnder(
  under: OverviewQuery['under'],
  { places: { groups, childrenOf }, scope }: CallerView,
): readonly DirectoryGroup[] {
  if (typeof under === 'number') return scope.seesGroup(under) ? (childrenOf.get(under) ?? []) : [];
  const seen = scope.seesAll ? groups : groups.filter(({ id }) => scope.seesGroup(id));
  return under === undefined
    ? seen
    : seen.filter(({ parentId }) => parentId === undefined || !scope.seesGroup(parentId));
}
