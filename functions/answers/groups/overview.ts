/**
 * Lists visible groups, and other subjects with a budget, in pages.
 *
 * Reads per page, for any number of groups: the pointer of the limits, the counters of shown rows, and eight weeks of their
 * usage from sheets. The order uses the snapshot of all counters, and fresh counters of the leaders. Without a snapshot it
 * reads each counter, of at most {@link RANKED_MAX} places and once in {@link RECENT_MS} per process.
 */
import { keepLatest } from '../../../policies/keep-latest.ts';
import { limitAt } from '../../../policies/limits/limits.ts';
import { isMoney } from '../../../policies/unit.ts';
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
import { ancestorsOf, subjectLabelOf, userLabels } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { compareRisks, riskOf } from '../status/risk.ts';
import {
  type CountedLimit,
  type CountedLimits,
  isBudget,
  leading,
  limitModes,
  limitsInForce,
} from '../status/subject-limits.ts';
import {
  groupRows,
  isGroup,
  levelSum,
  matchingPlaces,
  meteredOf,
  type RowPlace,
  subjectOfPlace,
} from './group-rows.ts';
import type { GroupRow, Overview, OverviewQuery } from './model.ts';

const ROWS = { usual: 50, max: 100 };
/** Their counters are some 300 requests to the table; further groups come last, by path. */
const RANKED_MAX = 20_000;
const RECENT_MS = 60_000;
/** Each row costs eight weeks of days: only the places with the largest share are ordered by risk. */
const FORECAST_MAX = 100;
/** Groups without a budget that are metered for the order, topmost first: their use includes all below them. */
const METERED_MAX = 200;
const METERED_KEPT_MAX = 10 * METERED_MAX;
const METERED_RECENT_MS = 5 * 60_000;

/** A place, and the budgets that order it. */
interface Candidate {
  readonly place: RowPlace;
  /** Those that reject jobs; without any, those that only warn. */
  readonly budgets: readonly CountedLimit[];
  /** The limit that counts its spend. */
  readonly money: CountedLimit | undefined;
}

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
  const metered = new Map<string, { readonly micros: number; readonly atMs: number }>();
  const candidates = keptCandidates(reading);

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
    const [some, rest] = rankedFirst(places);
    const all = candidates(some, view);
    const { counters, sinceMs } = await reading.counters.recent(all.flatMap(countersOf), RECENT_MS);
    if (asked.sort === 'spent') {
      const unbudgeted = all.filter(({ place, money }) => money === undefined && isGroup(place));
      const spentBy = await spentWithout(unbudgeted, view);
      const ordered = descending(all, ({ place, money }) =>
        money === undefined
          ? (spentBy.get(subjectOfPlace(place)) ?? -1)
          : (counters.get(money.counter.name)?.committed ?? 0),
      );
      const unranked = rest.length + unbudgeted.length - spentBy.size;
      return { ordered: [...ordered, ...rest], orderedAtMs: sinceMs, unranked };
    }
    const byShare = descending(all, ({ budgets }) =>
      budgets.reduce((most, budget) => Math.max(most, shareOf(budget, counters, nowMs)), -1),
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

  /** Spend of groups without a money budget, by subject. */
  async function spentWithout(
    unbudgeted: readonly Candidate[],
    { directory, nowMs }: CallerView,
  ): Promise<ReadonlyMap<string, number>> {
    const nearest = unbudgeted
      .map(({ place }) => subjectOfPlace(place))
      .map((subject) => ({ subject, depth: ancestorsOf(subject, directory).length }))
      .sort((a, b) => a.depth - b.depth)
      .slice(0, METERED_MAX)
      .map(({ subject }) => subject);
    const isOld = (subject: string): boolean =>
      (metered.get(subject)?.atMs ?? Number.NEGATIVE_INFINITY) <= nowMs - METERED_RECENT_MS;
    const from = firstOfMonth(reading.zone, nowMs);
    const span = { from, to: today(reading.zone, nowMs) };
    const usage = await readDays(nearest.filter(isOld), span, reading.usage);
    for (const [subject, days] of usage) {
      const { settledMicros, heldMicros } = meteredOf(days, from);
      keepLatest(metered, subject, { micros: settledMicros + heldMicros, atMs: nowMs }, METERED_KEPT_MAX);
    }
    return new Map(
      nearest.flatMap((subject) => {
        const known = metered.get(subject);
        return known === undefined ? [] : [[subject, known.micros] as const];
      }),
    );
  }
}

/** Candidates of groups are kept while limits and groups are the same. */
function keptCandidates({ policy, countedLimits }: ReadContext) {
  let known: { readonly counted: CountedLimits; readonly byGroup: Map<RowPlace, Candidate> } | undefined;
  return (places: readonly RowPlace[], view: CallerView): readonly Candidate[] => {
    const { limits, directory, nowMs } = view;
    const counted = countedLimits(limits, directory, nowMs);
    if (known?.counted !== counted) known = { counted, byGroup: new Map() };
    const { byGroup } = known;
    const modeOf = limitModes(policy, limits);
    const candidateOf = (place: RowPlace): Candidate => {
      const subject = subjectOfPlace(place);
      const having = isGroup(place)
        ? counted.ofGroup(place)
        : limitsInForce(subject, view).map(counted.counted);
      const all = having.filter(({ limit }) => isBudget(limit));
      const ancestors = ancestorsOf(subject, directory);
      const budgets = leading(all, ({ limit }) => modeOf(limit, ancestors));
      return { place, budgets, money: all.find(({ limit }) => isMoney(limit.kind)) };
    };
    return places.map((place) => {
      const candidate = byGroup.get(place) ?? candidateOf(place);
      if (isGroup(place)) byGroup.set(place, candidate);
      return candidate;
    });
  };
}

const countersOf = ({ budgets, money }: Candidate) => {
  const keys = budgets.map(({ counter }) => counter);
  return money === undefined || budgets.includes(money) ? keys : [...keys, money.counter];
};

/** (settled + held) / amount; -1: unlimited. */
export function shareOf({ limit, counter }: CountedLimit, counters: CountersByName, nowMs: number): number {
  const { amount } = limitAt(limit, nowMs);
  if (amount === 'unlimited') return -1;
  return amount === 0 ? 1 : (counters.get(counter.name)?.committed ?? 0) / amount;
}

/** Candidates come in order of paths, and a stable sort keeps it for equal figures. */
const descending = (
  all: readonly Candidate[],
  figureOf: (candidate: Candidate) => number,
): readonly RowPlace[] =>
  all
    .map((candidate) => ({ place: candidate.place, figure: figureOf(candidate) }))
    .sort((a, b) => b.figure - a.figure)
    .map(({ place }) => place);

/** Subjects other than groups are always ranked. */
function rankedFirst(places: readonly RowPlace[]): readonly [readonly RowPlace[], readonly RowPlace[]] {
  if (places.length <= RANKED_MAX) return [places, []];
  const all = [...places.filter((place) => !isGroup(place)), ...places.filter(isGroup)];
  return [all.slice(0, RANKED_MAX), all.slice(RANKED_MAX)];
}
