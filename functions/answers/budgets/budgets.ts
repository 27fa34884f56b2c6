/**
 * All limits in force of everything somebody sees, and how they stand.
 *
 * Reads one counter a limit, what its owner was told where somebody is told, and where trouble is asked for that of the period before; where a page does not hold them all, they
 * are ordered by counters at most a minute old and only the page's are read anew. A forecast reads eight weeks of days a subject, and
 * so is made of {@link FORECAST_MAX} at most; nine months where only the limits of one place are asked for, which says how far off
 * forecasts were as well.
 */
import { isCap } from '../../../policies/limits/cap.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import type { GroupRowsContext } from '../overview/group-rows.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { readManyDays } from '../reading/many-days.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import { today, type UsageBySubject } from '../reading/usage-days.ts';
import { userLabels } from '../reading/user-labels.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type AlertsByCounter, alertsOfLimits } from '../standing/alerts.ts';
import { askedModes } from '../standing/asked-mode.ts';
import type { CountedLimit } from '../standing/counted-limits.ts';
import { cohortStanding, limitRow, rowCounters } from '../standing/limit-row.ts';
import type { LimitRow } from '../standing/model.ts';
import { canRunOut, historySpan, testedSpan } from '../standing/outlook.ts';
import { compareTroubles, troubleOfRow } from '../standing/trouble.ts';
import { budgetsInOrder } from './budget-order.ts';
import { limitsAsked } from './limits-asked.ts';
import type { BudgetRow, Budgets, BudgetsQuery } from './model.ts';

const FORECAST_MAX = 400;
const ROWS_DEFAULT = 100;
export const BUDGET_ROWS_MAX = 1_000;
const RECENT_MS = 60_000;

export const budgetsOf =
  (reading: ReadContext) =>
  async (asked: BudgetsQuery, viewer: Viewer): Promise<Budgets> => {
    const [{ set, limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const { directory } = places;
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, directory);
    const from: GroupRowsContext = { limits, places, scope, nowMs };
    const max = Math.min(BUDGET_ROWS_MAX, Math.max(1, asked.max ?? ROWS_DEFAULT));
    const start = /^\d{1,7}$/.test(asked.cursor ?? '') ? Number(asked.cursor) : 0;

    const all = limitsAsked(asked, from, reading.countedLimits(limits, directory, nowMs));
    const keysOf = (some: readonly CountedLimit[]) =>
      some.flatMap(({ limit, counter }) => {
        if (isCap(limit.subject)) return [];
        return limit.cohort === undefined ? [counter] : rowCounters(limit, limits, nowMs);
      });
    const isOnePage = all.length <= max;
    const { counters, isCopied } = isOnePage
      ? { counters: await reading.counters.fresh(keysOf(all)), isCopied: false }
      : await reading.counters.recent(keysOf(all), RECENT_MS);
    const modeOf = askedModes(reading.policy, limits);
    const basis = { counters, isCopied, kept: reading.counters, modeOf, directory, nowMs };
    const { ordered, ...troubles } = await budgetsInOrder(all, asked, basis);

    const rowOf = (counted: CountersByName, usage: UsageBySubject, alerts: AlertsByCounter = new Map()) => {
      return ({ limit, byDefault, counter }: CountedLimit): BudgetRow => {
        const row: LimitRow = limitRow(limit, {
          nowMs,
          counter: counted.get(counter.name),
          asked: modeOf(limit, placedChainOf(limit.subject, directory)),
          usage: usage.get(limit.subject),
          tested,
          byDefault,
          alerts: alerts.get(counter.name),
          cohort: cohortStanding(limit, limits, counted, nowMs),
        });
        return {
          ...row,
          path: subjectLabelOf(row.subject, directory),
          addressee: findRecipient(row.subject, row.id, { limits, directory }).owner,
          canRunOut: canRunOut(row),
        };
      };
    };
    const tested = asked.holding !== undefined;
    const { shown, usage } = await withForecasts(ordered);
    const page = shown.slice(start, start + max);
    const [now, alerts] = await Promise.all([
      isOnePage ? counters : reading.counters.fresh(keysOf(page)),
      alertsOfLimits(page, reading, nowMs),
    ]);
    const unnamed = page.map(rowOf(now, usage, alerts));
    const labelOf = await userLabels(
      unnamed.map(({ path }) => path),
      reading.userNames,
    );
    const rows = unnamed.map((row) => ({ ...row, path: labelOf(row.path) }));
    // The order is by the mean of four weeks, the mark by weekdays: within a page they agree.
    if (asked.sort === 'trouble') rows.sort((a, b) => compareTroubles(troubleOfRow(a), troubleOfRow(b)));
    return {
      ...(set !== undefined && { set }),
      currency: reading.policy.currency,
      nowMs,
      rows,
      total: ordered.length,
      first: page.length === 0 ? 0 : start + 1,
      ...(start + max < ordered.length && { next: String(start + max) }),
      ...(start > 0 && { previous: String(Math.max(0, start - max)) }),
      ...withoutAbsent(troubles),
      forecastMax: FORECAST_MAX,
    };

    /** Those that are forecast come before the others, unless another order was asked for: then a page forecasts its own. */
    async function withForecasts(ordered: readonly CountedLimit[]) {
      const { forecast: isAsked = asked.sort === 'trouble', sort, holding } = asked;
      if (!isAsked) return { shown: ordered, usage: new Map() };
      if (sort === 'trouble' || sort === 'name') {
        const page = ordered.slice(start, start + Math.min(max, FORECAST_MAX));
        return { shown: ordered, usage: await usageOf(page, tested, from, reading) };
      }
      const forecast = ordered.slice(0, FORECAST_MAX);
      const usage = await usageOf(forecast, tested, from, reading);
      const inOrder = holding !== undefined || start >= FORECAST_MAX;
      return {
        shown: inOrder
          ? ordered
          : [...runsOutFirst(forecast, rowOf(counters, usage)), ...ordered.slice(forecast.length)],
        usage,
      };
    }
  };

async function usageOf(
  forecast: readonly CountedLimit[],
  tested: boolean,
  { nowMs }: GroupRowsContext,
  reading: ReadContext,
): Promise<UsageBySubject> {
  const subjects = forecast.flatMap(({ limit }) =>
    canRunOut(limit) && !isCap(limit.subject) ? [limit.subject] : [],
  );
  const span = (tested ? testedSpan : historySpan)(today(reading.zone, nowMs));
  return subjects.length === 0 ? new Map() : readManyDays(subjects, span, reading);
}

function runsOutFirst(
  all: readonly CountedLimit[],
  rowOf: (having: CountedLimit) => BudgetRow,
): readonly CountedLimit[] {
  return all
    .map((having) => ({ having, atMs: runsOutMs(rowOf(having)) }))
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ having }) => having);
}

/** Finite, so that those that last can be told from those nobody knows about. */
function runsOutMs({ forecast }: LimitRow): number {
  if (forecast === undefined) return 9e15;
  if (forecast.outcome === 'used_up') return 0;
  return forecast.atMs ?? 8e15;
}
