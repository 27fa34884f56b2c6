/**
 * Lists visible groups, and other subjects with a budget, in pages.
 *
 * Reads per page, for any number of groups: the pointer of the limits, the counters of shown rows, and eight
 * weeks of their usage from sheets. The order uses the snapshot of all visible budgets' counters and their
 * previous period, and fresh counters of the leaders. Without a snapshot it reads each counter, of at most
 * {@link RANKED_MAX} groups and once in {@link RECENT_MS} per process.
 */

import { keepLatest } from '../../../policies/keep-latest.ts';
import { isMoney } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { firstOfMonth } from '../../core/usage/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { userLabels } from '../reading/user-labels.ts';
import type { Viewer } from '../reading/viewer.ts';
import { askedModes } from '../standing/asked-mode.ts';
import type { CountedLimits } from '../standing/counted-limits.ts';
import { isBudget } from '../standing/group-limits.ts';
import { leading } from '../standing/leading.ts';
import { compareRisks, NO_RISK, riskOf } from '../standing/risk.ts';
import { type GroupRowsContext, groupRows, meteredOf } from './group-rows.ts';
import type { GroupRow, Overview, OverviewQuery } from './model.ts';
import { byShare, bySpent, type Candidate } from './overview-order.ts';
import { placesAsked } from './places-asked.ts';
import { isGroup, placeSubject, type RowPlace, subjectLimitsOfPlace } from './row-places.ts';
import { stepSum } from './step-sum.ts';

const ROWS_DEFAULT = 50;
const ROWS_MAX = 100;
/** Their counters are some 300 requests to the table; beyond it groups come last, by path. */
const RANKED_MAX = 20_000;
const RECENT_MS = 60_000;
/** Each row costs eight weeks of days: of so many with the largest share the risk decides, of the others the share. */
const FORECAST_MAX = 100;
/** Groups without a budget that are metered for the order, nearest the top first: what they use includes all below them. */
const METERED_MAX = 200;
const METERED_KEPT_MAX = 10 * METERED_MAX;
const METERED_RECENT_MS = 5 * 60_000;

export function overviewOf(
  reading: ReadContext,
): (asked: OverviewQuery, viewer: Viewer) => Promise<Overview> {
  const metered = new Map<string, { readonly micros: number; readonly atMs: number }>();
  const candidates = keptCandidates(reading);

  return async (asked, viewer) => {
    const [{ set, limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, places.directory);
    const from: GroupRowsContext = { limits, places, scope, nowMs };
    const lines = placesAsked(asked, from);
    const max = Math.min(ROWS_MAX, Math.max(1, asked.max ?? ROWS_DEFAULT));
    const offset = offsetOf(asked.cursor);
    const {
      ordered,
      orderedAtMs,
      unranked,
      rows: known = NO_ROWS,
    } = await orderOf(asked, offset, lines, from);
    const start = Math.min(offset, ordered.length);
    const shown = ordered.slice(start, start + max);
    const isFirst = scope.seesAll && start === 0;
    const missing = shown.filter((place) => !known.has(place));
    const read = await groupRows(isFirst ? ['instance', ...missing] : missing, from, reading);
    const [instance, ...others] = isFirst ? read : [undefined, ...read];
    const made = new Map([...known, ...missing.map((place, index) => [place, others[index]] as const)]);
    const unnamed = shown.flatMap((place) => made.get(place) ?? []);
    const labelOf = await userLabels(
      unnamed.map(({ path }) => path),
      reading.userNames,
    );
    const page = unnamed.map((row) => ({ ...row, path: labelOf(row.path) }));
    const sum = await stepSum(asked.under, page, from, reading);
    return {
      set,
      currency: reading.policy.currency,
      nowMs,
      orderedAtMs,
      ...(places.atMs !== undefined && { directoryAtMs: places.atMs }),
      rows: page,
      total: ordered.length,
      others: ordered.filter((place) => !isGroup(place)).length,
      first: ordered.length === 0 ? 0 : start + 1,
      ...(start + max < ordered.length && { next: String(start + max) }),
      ...(start > 0 && { previous: String(Math.max(0, start - max)) }),
      unranked,
      ...withoutAbsent({ instance, sum }),
    };
  };

  /** With the rows that were made on the way. */
  async function orderOf(
    asked: OverviewQuery,
    offset: number,
    lines: readonly RowPlace[],
    from: GroupRowsContext,
  ): Promise<PlaceOrder> {
    const { nowMs } = from;
    const sort = asked.sort ?? 'runs-out-first';
    if (sort === 'name' || asked.under !== undefined)
      return { ordered: lines, orderedAtMs: nowMs, unranked: 0 };
    // Subjects with their own limit are always ranked.
    const [some, rest] = rankedFirst(lines);
    const all = candidates(some, from);
    const now = await reading.counters.recent(all.flatMap(countersOf), RECENT_MS);
    if (sort === 'runs-out-first') {
      const places = byShare(all, now.counters, nowMs).map(({ place }) => place);
      const order = { orderedAtMs: now.sinceMs, unranked: rest.length };
      if (offset >= FORECAST_MAX) return { ordered: [...places, ...rest], ...order };
      const leaders = places.slice(0, FORECAST_MAX);
      const made = await groupRows(leaders, from, reading);
      const rows = new Map(leaders.map((place, index) => [place, made[index]]));
      const risks = new Map(leaders.map((place) => [place, riskOf(rows.get(place)?.budget)]));
      const ranked = leaders.toSorted((a, b) =>
        compareRisks(risks.get(a) ?? NO_RISK, risks.get(b) ?? NO_RISK),
      );
      return { ordered: [...ranked, ...places.slice(FORECAST_MAX), ...rest], rows, ...order };
    }
    const unbudgeted = all.filter(({ place, money }) => money === undefined && isGroup(place));
    const spentBy = await spentWithout(unbudgeted, from);
    const ordered = bySpent(all, ({ place, money }) =>
      money === undefined
        ? spentBy.get(placeSubject(place))
        : (now.counters.get(money.counter.name)?.committed ?? 0),
    );
    const unranked = rest.length + unbudgeted.length - spentBy.size;
    return { ordered: [...ordered.map(({ place }) => place), ...rest], orderedAtMs: now.sinceMs, unranked };
  }

  async function spentWithout(
    candidates: readonly Candidate[],
    { places, nowMs }: GroupRowsContext,
  ): Promise<ReadonlyMap<string, number>> {
    const depth = ({ place }: Candidate): number =>
      placedChainOf(placeSubject(place), places.directory).length;
    const nearest = [...candidates].sort((a, b) => depth(a) - depth(b)).slice(0, METERED_MAX);
    const missing = nearest.filter(
      ({ place }) =>
        (metered.get(placeSubject(place))?.atMs ?? Number.NEGATIVE_INFINITY) <= nowMs - METERED_RECENT_MS,
    );
    const from = firstOfMonth(reading.zone, nowMs);
    const span = { from, to: today(reading.zone, nowMs) };
    const usage = await readDays(
      missing.map(({ place }) => placeSubject(place)),
      span,
      reading.usage,
    );
    for (const [subject, days] of usage) {
      const { settledMicros, heldMicros } = meteredOf(days, from);
      keepLatest(metered, subject, { micros: settledMicros + heldMicros, atMs: nowMs }, METERED_KEPT_MAX);
    }
    return new Map(
      nearest.flatMap(({ place }) => {
        const known = metered.get(placeSubject(place));
        return known === undefined ? [] : [[placeSubject(place), known.micros] as const];
      }),
    );
  }
}

interface PlaceOrder {
  readonly ordered: readonly RowPlace[];
  readonly orderedAtMs: number;
  readonly unranked: number;
  readonly rows?: ReadonlyMap<RowPlace, GroupRow | undefined>;
}

const NO_ROWS: NonNullable<PlaceOrder['rows']> = new Map();

/** Candidates of the same limits are the same: those of groups are made once. */
function keptCandidates({ policy, countedLimits }: ReadContext) {
  let known: { readonly counted: CountedLimits; readonly byGroup: Map<RowPlace, Candidate> } | undefined;
  return (places: readonly RowPlace[], from: GroupRowsContext): readonly Candidate[] => {
    const counted = countedLimits(from.limits, from.places.directory, from.nowMs);
    if (known?.counted !== counted) known = { counted, byGroup: new Map() };
    const { byGroup } = known;
    const modeOf = askedModes(policy, from.limits);
    return places.map((place) => {
      const candidate = byGroup.get(place) ?? candidateOf(place, counted, modeOf, from);
      if (isGroup(place)) byGroup.set(place, candidate);
      return candidate;
    });
  };
}

function candidateOf(
  place: RowPlace,
  counted: CountedLimits,
  modeOf: ReturnType<typeof askedModes>,
  { limits, places, nowMs }: GroupRowsContext,
): Candidate {
  const all = (
    isGroup(place) ? counted.ofGroup(place) : subjectLimitsOfPlace(place, limits, nowMs).map(counted.counted)
  ).filter(({ limit }) => isBudget(limit));
  const ancestors = placedChainOf(placeSubject(place), places.directory);
  const budgets = leading(all, ({ limit }) => modeOf(limit, ancestors));
  return { place, budgets, money: all.find(({ limit }) => isMoney(limit.kind)) };
}

const countersOf = ({ budgets, money }: Candidate) => {
  const keys = budgets.map(({ counter }) => counter);
  return money === undefined || budgets.includes(money) ? keys : [...keys, money.counter];
};

function rankedFirst(lines: readonly RowPlace[]): readonly [readonly RowPlace[], readonly RowPlace[]] {
  if (lines.length <= RANKED_MAX) return [lines, []];
  const others = lines.filter((place) => !isGroup(place));
  const all = [...others, ...lines.filter(isGroup)];
  return [all.slice(0, RANKED_MAX), all.slice(RANKED_MAX)];
}

const offsetOf = (cursor: string | undefined): number =>
  cursor !== undefined && /^\d{1,7}$/.test(cursor) ? Number(cursor) : 0;
