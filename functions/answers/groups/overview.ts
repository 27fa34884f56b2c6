/**
 * Lists visible groups, and other subjects with a budget, in pages.
 *
 * Reads per page, for any number of groups: the pointer of the limits, the counters of shown rows, and four weeks of their
 * usage from sheets. The order uses the snapshot of all counters, or the sheet of the month. Without a snapshot it reads each
 * counter, of at most {@link RANKED_MAX} places.
 */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { firstOfMonth } from '../../core/usage/sums.ts';
import {
  type Caller,
  type CallerView,
  offsetOf,
  pageOf,
  type ReadContext,
  viewOf,
} from '../reading/context.ts';
import { readSums } from '../reading/read-sums.ts';
import { ancestorsOf, subjectLabelOf, userLabels } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { figuresOf } from '../report/read-spend.ts';
import { compareRisks, riskOf } from '../status/risk.ts';
import { countedLimits, isBudget, leading, limitModes, shareOf } from '../status/subject-limits.ts';
import { groupRows, matchingPlaces, type RowPlace } from './group-rows.ts';
import type { GroupRow, Overview, OverviewQuery } from './model.ts';

const ROWS = { usual: 50, max: 100 };
/** Their counters are some 300 requests to the table; further groups come last, by path. */
const RANKED_MAX = 20_000;
/** Each row costs four weeks of days: only the places with the largest share are ordered by risk. */
const FORECAST_MAX = 100;

interface PlaceOrder {
  readonly ordered: readonly RowPlace[];
  readonly rows?: ReadonlyMap<RowPlace, GroupRow>;
}

export const overviewOf =
  (reading: ReadContext) =>
  async (asked: OverviewQuery, caller: Caller): Promise<Overview> => {
    const view = await viewOf(reading, caller);
    const { set, scope, directory, places, nowMs } = view;
    const { ordered, rows: known = new Map() } = await orderOf(asked, view, reading);
    const page = pageOf(ordered, asked, ROWS);
    const whole = { subject: 'instance', path: subjectLabelOf('instance', directory) };
    const wanted = page.rows.filter((place) => !known.has(place));
    if (scope.seesAll && page.start === 0) wanted.unshift(whole);
    const read = await groupRows(wanted, view, reading);
    const made = new Map([...known, ...wanted.map((place, index) => [place, read[index]] as const)]);
    const unnamed: readonly GroupRow[] = page.rows.flatMap((place) => made.get(place) ?? []);
    const paths = unnamed.map(({ path }) => path);
    const labelOf = await userLabels(paths, reading.userNames);
    const rows = unnamed.map((row) => ({ ...row, path: labelOf(row.path) }));
    return {
      ...{ set, currency: reading.policy.currency, nowMs, rows },
      total: ordered.length,
      others: ordered.filter(({ group }) => group === undefined).length,
      ...{ first: page.first, ...page.next, ...page.previous },
      ...withoutAbsent({ directoryAtMs: places.atMs, instance: made.get(whole) }),
    };
  };

async function orderOf(asked: OverviewQuery, view: CallerView, reading: ReadContext): Promise<PlaceOrder> {
  const { limits, directory, nowMs } = view;
  const places = matchingPlaces(asked, view);
  if (asked.sort === 'name' || asked.under !== undefined) return { ordered: places };
  const groups = places.filter(({ group }) => group !== undefined);
  const others = places.filter(({ group }) => group === undefined);
  if (asked.sort === 'spent') {
    const spentBy = await monthSpend(groups, others, view, reading);
    return { ordered: descending(places, ({ subject }) => spentBy.get(subject) ?? 0) };
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
  if (offsetOf(asked.cursor) >= FORECAST_MAX) return { ordered: [...byShare, ...rest] };
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
  const source = { usage, today: to, ...withoutAbsent({ sheets }) };
  const [, days] = await Promise.all([
    readSums({ ...span, kind: 'group', rows, byDay: false }, source, (id, sum) => {
      const { micros, heldMicros } = figuresOf(sum);
      add(rows.get(id) ?? '', micros + heldMicros);
    }),
    readDays(
      others.map(({ subject }) => subject),
      span,
      usage,
    ),
  ]);
  for (const [subject, all] of days)
    for (const { settledMicros, heldMicros } of all) add(subject, settledMicros + heldMicros);
  return spentBy;
}

/** Places come in order of paths, and a stable sort keeps it for equal figures. */
const descending = (
  places: readonly RowPlace[],
  figureOf: (place: RowPlace) => number,
): readonly RowPlace[] =>
  places
    .map((place) => ({ place, figure: figureOf(place) }))
    .sort((a, b) => b.figure - a.figure)
    .map(({ place }) => place);
