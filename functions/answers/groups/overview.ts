/**
 * Lists visible groups, and other subjects with a budget, in pages.
 *
 * Reads per page, for any number of groups: the pointer of the limits, the counters of shown rows, and eight weeks of their
 * usage from sheets. The order uses the snapshot of all counters, or the sheet of the month. Without a snapshot it reads each
 * counter, of at most {@link RANKED_MAX} places.
 */
import { limitAt } from '../../../policies/limits/limits.ts';
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
import type { CountersByName } from '../reading/counters-now.ts';
import { readSums } from '../reading/read-sums.ts';
import { ancestorsOf, subjectLabelOf, userLabels } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { figuresOf } from '../report/read-spend.ts';
import { compareRisks, riskOf } from '../status/risk.ts';
import { type CountedLimit, isBudget, leading, limitModes, limitsInForce } from '../status/subject-limits.ts';
import { groupRows, isGroup, levelSum, matchingPlaces, type RowPlace, subjectOfPlace } from './group-rows.ts';
import type { GroupRow, Overview, OverviewQuery } from './model.ts';

const ROWS = { usual: 50, max: 100 };
/** Their counters are some 300 requests to the table; further groups come last, by path. */
const RANKED_MAX = 20_000;
/** Each row costs eight weeks of days: only the places with the largest share are ordered by risk. */
const FORECAST_MAX = 100;

interface PlaceOrder {
  readonly ordered: readonly RowPlace[];
  readonly orderedAtMs: number;
  readonly unranked: number;
  /** Rows built for the order. */
  readonly rows?: ReadonlyMap<RowPlace, GroupRow>;
}

export function overviewOf(
  reading: ReadContext,
): (asked: OverviewQuery, caller: Caller) => Promise<Overview> {
  return async (asked, caller) => {
    const view = await viewOf(reading, caller);
    const { set, scope, directory, places, nowMs } = view;
    const { ordered, orderedAtMs, unranked, rows: known = new Map() } = await orderOf(asked, view);
    const page = pageOf(ordered, asked, ROWS);
    const isFirst = scope.seesAll && page.start === 0;
    const whole = { subject: 'instance', path: subjectLabelOf('instance', directory) };
    const missing: readonly RowPlace[] = page.rows.filter((place) => !known.has(place));
    const wanted = isFirst ? [whole, ...missing] : missing;
    const read = await groupRows(wanted, view, reading);
    const made = new Map([...known, ...wanted.map((place, index) => [place, read[index]] as const)]);
    const unnamed = page.rows.flatMap((place) => made.get(place) ?? []);
    const labelOf = await userLabels(
      unnamed.map(({ path }) => path),
      reading.userNames,
    );
    const rows = unnamed.map((row) => ({ ...row, path: labelOf(row.path) }));
    return {
      ...{ set, currency: reading.policy.currency, nowMs, orderedAtMs, rows, unranked },
      total: ordered.length,
      others: ordered.filter((place) => !isGroup(place)).length,
      first: page.first,
      ...page.next,
      ...page.previous,
      ...withoutAbsent({
        directoryAtMs: places.atMs,
        instance: made.get(whole),
        sum: await levelSum(asked.under, rows, view, reading),
      }),
    };
  };

  async function orderOf(asked: OverviewQuery, view: CallerView): Promise<PlaceOrder> {
    const { nowMs } = view;
    const places = matchingPlaces(asked, view);
    if (asked.sort === 'name' || asked.under !== undefined)
      return { ordered: places, orderedAtMs: nowMs, unranked: 0 };
    if (asked.sort === 'spent') {
      const { spentBy, isComplete } = await monthSpend(places, view, reading);
      const ordered = descending(places, (place) => spentBy.get(subjectOfPlace(place)) ?? 0);
      return { ordered, orderedAtMs: nowMs, unranked: isComplete ? 0 : places.filter(isGroup).length };
    }
    const [some, rest] = rankedFirst(places);
    const budgetsOf = leadingBudgets(view, reading);
    const budgets = new Map(some.map((place) => [place, budgetsOf(place)]));
    const keys = [...budgets.values()].flat().map(({ counter }) => counter);
    const { counters, sinceMs } = await reading.counters.recent(keys);
    const byShare = descending(some, (place) =>
      Math.max(-1, ...(budgets.get(place) ?? []).map((budget) => shareOf(budget, counters, nowMs))),
    );
    const order = { orderedAtMs: sinceMs, unranked: rest.length };
    if (offsetOf(asked.cursor) >= FORECAST_MAX) return { ordered: [...byShare, ...rest], ...order };
    const leaders = byShare.slice(0, FORECAST_MAX);
    const made = await groupRows(leaders, view, reading);
    const ranked = leaders
      .flatMap((place, index) => {
        const row = made[index];
        return row === undefined ? [] : [{ place, row, risk: riskOf(row.budget) }];
      })
      .sort((a, b) => compareRisks(a.risk, b.risk));
    return {
      ordered: [...ranked.map(({ place }) => place), ...byShare.slice(FORECAST_MAX), ...rest],
      rows: new Map(ranked.map(({ place, row }) => [place, row])),
      ...order,
    };
  }
}

/** Spend of this month by subject: of groups from sheets, of others from their days. @throws {LedgerError} */
async function monthSpend(
  places: readonly RowPlace[],
  { nowMs }: CallerView,
  { zone, usage, sheets }: ReadContext,
): Promise<{ readonly spentBy: ReadonlyMap<string, number>; readonly isComplete: boolean }> {
  const spentBy = new Map<string, number>();
  const add = (subject: string, micros: number): void => {
    spentBy.set(subject, (spentBy.get(subject) ?? 0) + micros);
  };
  const to = today(zone, nowMs);
  const span = { from: firstOfMonth(zone, nowMs), to };
  const rows = new Map(places.filter(isGroup).map((place) => [place.id, subjectOfPlace(place)]));
  const others = places.filter((place) => !isGroup(place)).map(subjectOfPlace);
  const [{ rowsMissing }, days] = await Promise.all([
    readSums(
      { ...span, kind: 'group', rows, byDay: false },
      { usage, today: to, ...withoutAbsent({ sheets }) },
      (id, sum) => {
        const { micros, heldMicros } = figuresOf(sum);
        add(rows.get(id) ?? '', micros + heldMicros);
      },
    ),
    readDays(others, span, usage),
  ]);
  for (const [subject, all] of days)
    for (const { settledMicros, heldMicros } of all) add(subject, settledMicros + heldMicros);
  return { spentBy, isComplete: rowsMissing === 0 };
}

/** Returns a function for the budgets that order a place: those that reject jobs; without any, those that only warn. */
function leadingBudgets(view: CallerView, { policy, countedLimits }: ReadContext) {
  const { limits, directory, nowMs } = view;
  const counted = countedLimits(limits, directory, nowMs);
  const modeOf = limitModes(policy, limits);
  return (place: RowPlace): readonly CountedLimit[] => {
    const subject = subjectOfPlace(place);
    const having = isGroup(place)
      ? counted.ofGroup(place)
      : limitsInForce(subject, view).map(counted.counted);
    const ancestors = ancestorsOf(subject, directory);
    return leading(
      having.filter(({ limit }) => isBudget(limit)),
      ({ limit }) => modeOf(limit, ancestors),
    );
  };
}

/** (settled + held) / amount; -1: unlimited. */
export function shareOf({ limit, counter }: CountedLimit, counters: CountersByName, nowMs: number): number {
  const { amount } = limitAt(limit, nowMs);
  if (amount === 'unlimited') return -1;
  return amount === 0 ? 1 : (counters.get(counter.name)?.committed ?? 0) / amount;
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

/** Subjects other than groups are always ranked. */
function rankedFirst(places: readonly RowPlace[]): readonly [readonly RowPlace[], readonly RowPlace[]] {
  if (places.length <= RANKED_MAX) return [places, []];
  const all = [...places.filter((place) => !isGroup(place)), ...places.filter(isGroup)];
  return [all.slice(0, RANKED_MAX), all.slice(RANKED_MAX)];
}
