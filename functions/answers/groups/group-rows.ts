import { ancestorsOf, type DirectoryGroup, pathKey } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { counterOf, limitsOn } from '../../../policies/limits/limits.ts';
import { isMoney } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { firstOfMonth, usedTogether } from '../../core/usage/sums.ts';
import {
  type Caller,
  type CallerView,
  offsetOf,
  pageOf,
  type ReadContext,
  readCallerView,
} from '../reading/context.ts';
import { readManyDays, readSums } from '../reading/read-sums.ts';
import { byPath, formatSubjectLabel, userLabels } from '../reading/scope.ts';
import { dayText, readDays, today } from '../reading/usage-days.ts';
import { figuresOf } from '../report/read-spend.ts';
import { freezeRows, frozenNow, limitRows } from '../status/limit-row.ts';
import type { LimitRow } from '../status/model.ts';
import { historySpan } from '../status/outlook.ts';
import { compareRisks, refusalsNow, riskOf } from '../status/risk.ts';
import {
  countedLimits,
  isBudget,
  leading,
  limitModes,
  limitsInForce,
  shareOf,
} from '../status/subject-limits.ts';
import type { GroupRow, Overview, OverviewQuery } from './model.ts';

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
  const subjects = places.map(({ subject }) => subject);
  const span = { from: Math.min(monthFrom, history.from), to: history.to };
  const [counters, usage] = await Promise.all([
    reading.counters.fresh(budgets.map(({ limit }) => counterOf(limit, nowMs))),
    readManyDays(subjects, span, reading),
  ]);
  const refusals = await refusalsNow(usage, nowMs, reading);
  const rowOf = limitRows({ limits, directory, policy, counters, usage, refusals, nowMs });
  return all.map(({ place, havings }): GroupRow => {
    const { subject } = place;
    const days = (usage.get(subject) ?? []).filter(({ number }) => number >= monthFrom);
    const budget = firstToRunOut(havings.filter(({ limit }) => isBudget(limit)).map(rowOf));
    const { id: groupId, parentId = 0, personal = false } = place.group ?? {};
    return {
      ...{ subject, path: place.path, personal },
      children: view.places.childrenOf.get(groupId ?? 0)?.length ?? 0,
      metered: { ...usedTogether(days), sinceDay: dayText(monthFrom) },
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

const SEARCH_CHARACTERS_MAX = 200;

export const searchKey = (search = ''): string => pathKey(search.trim().slice(0, SEARCH_CHARACTERS_MAX));

/**
 * Lists visible matches by path, from memory. Personal namespaces, one per user, appear only in searches or with their own
 * limit; other subjects only with a budget, and in searches with any limit.
 */
function matchingPlaces({ search: text, under, mine }: OverviewQuery, view: CallerView): readonly RowPlace[] {
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
    const path = formatSubjectLabel(subject, directory);
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

/**
 * Lists visible groups, and other subjects with a budget, in pages.
 *
 * Reads per page, for any number of groups: the pointer of the limits, the counters of shown rows, and four weeks of their
 * usage from sheets. The order uses the snapshot of all counters, or the sheet of the month. Without a snapshot it reads each
 * counter, of at most {@link RANKED_MAX} places.
 */

const ROWS = { usual: 50, max: 100 };
/** Their counters are some 300 requests to the table; further groups come last, by path. */
const RANKED_MAX = 20_000;
/** Each row costs four weeks of days: only the places with the largest share are ordered by risk. */
const FORECAST_MAX = 100;

export const overviewOf =
  (reading: ReadContext) =>
  async (query: OverviewQuery, caller: Caller): Promise<Overview> => {
    const view = await readCallerView(reading, caller);
    const { set, scope, directory, places, nowMs } = view;
    const { ordered, rows: known } = await orderedPlaces(query, view, reading);
    const page = pageOf(ordered, query, ROWS);
    const whole = { subject: 'instance', path: formatSubjectLabel('instance', directory) };
    const wanted = page.rows.filter((place) => !known.has(place));
    if (scope.seesAll && page.start === 0) wanted.unshift(whole);
    const read = await groupRows(wanted, view, reading);
    const made = new Map([...known, ...wanted.map((place, index) => [place, read[index]] as const)]);
    const unnamed: readonly GroupRow[] = page.rows.flatMap((place) => made.get(place) ?? []);
    const paths = unnamed.map(({ path }) => path);
    const labelOf = await userLabels(paths, reading.userNames);
    return {
      ...{ set, currency: reading.policy.currency, nowMs },
      rows: unnamed.map((row) => ({ ...row, path: labelOf(row.path) })),
      total: ordered.length,
      others: ordered.filter(({ group }) => group === undefined).length,
      ...{ first: page.first, ...page.next, ...page.previous },
      ...withoutAbsent({ directoryAtMs: places.atMs, instance: made.get(whole) }),
    };
  };

async function orderedPlaces(query: OverviewQuery, view: CallerView, reading: ReadContext) {
  const { limits, directory, nowMs } = view;
  const places = matchingPlaces(query, view);
  const noRows: ReadonlyMap<RowPlace, GroupRow> = new Map();
  if (query.sort === 'name' || query.under !== undefined) return { ordered: places, rows: noRows };
  const groups = places.filter(({ group }) => group !== undefined);
  const others = places.filter(({ group }) => group === undefined);
  if (query.sort === 'spent') {
    const spentBy = await monthSpend(groups, others, view, reading);
    return { ordered: descending(places, ({ subject }) => spentBy.get(subject) ?? 0), rows: noRows };
  }
  // Subjects other than groups are always ranked.
  const all = places.length <= RANKED_MAX ? places : [...others, ...groups];
  const [some, rest] = [all.slice(0, RANKED_MAX), all.slice(RANKED_MAX)];
  const limitsOf = countedLimits(view);
  const modeOf = limitModes(reading.policy, limits);
  const budgets = new Map(
    some.map((place) => {
      const ancestors = ancestorsOf(place.subject, directory);
      const own = limitsOf(place.subject).filter(({ limit }) => isBudget(limit));
      return [place, leading(own, ({ limit }) => modeOf(limit, ancestors))];
    }),
  );
  const keys = [...budgets.values()].flat().map(({ counter }) => counter);
  const { counters } = await reading.counters.recent(keys);
  const byShare = descending(some, (place) =>
    Math.max(-1, ...(budgets.get(place) ?? []).map((budget) => shareOf(budget, counters, nowMs))),
  );
  if (offsetOf(query.cursor) >= FORECAST_MAX) return { ordered: [...byShare, ...rest], rows: noRows };
  const leaders = byShare.slice(0, FORECAST_MAX);
  const rows = await groupRows(leaders, view, reading);
  const ranked = leaders
    .flatMap((place, index) => {
      const row = rows[index];
      return row === undefined ? [] : [{ place, row, risk: riskOf(row.budget) }];
    })
    .sort((a, b) => compareRisks(a.risk, b.risk));
  return {
    ordered: [...ranked.map(({ place }) => place), ...byShare.slice(FORECAST_MAX), ...rest],
    rows: new Map(ranked.map(({ place, row }) => [place, row])),
  };
}

async function monthSpend(
  groups: readonly RowPlace[],
  others: readonly RowPlace[],
  { nowMs }: CallerView,
  { zone, usage, sheets }: ReadContext,
) {
  const spentBy = new Map<string, number>();
  const add = (subject: string, micros: number): void => {
    spentBy.set(subject, (spentBy.get(subject) ?? 0) + micros);
  };
  const to = today(zone, nowMs);
  const span = { from: firstOfMonth(zone, nowMs), to };
  const rows = new Map(groups.map(({ group, subject }) => [group?.id ?? 0, subject]));
  const named = others.map(({ subject }) => subject);
  const [, days] = await Promise.all([
    readSums({ ...span, kind: 'group', rows, byDay: false }, { usage, sheets, today: to }, (id, sum) => {
      const { micros, heldMicros } = figuresOf(sum);
      add(rows.get(id) ?? '', micros + heldMicros);
    }),
    readDays(named, span, usage),
  ]);
  for (const [subject, all] of days)
    for (const { settledMicros, heldMicros } of all) add(subject, settledMicros + heldMicros);
  return spentBy;
}

/** Places come in order of paths, and a stable sort keeps it for equal figures. */
function descending(places: readonly RowPlace[], figureOf: (place: RowPlace) => number) {
  const figures = new Map(places.map((place) => [place, figureOf(place)]));
  return places.toSorted((a, b) => (figures.get(b) ?? 0) - (figures.get(a) ?? 0));
}
