/**
 * All limits in force that a user sees, and how they stand.
 *
 * 1. Read one counter a limit; where a page does not hold all limits, counters at most a minute old or copies.
 * 2. Forecast the {@link FORECAST_MAX} fullest, from eight weeks of days a subject, and read which budgets refuse jobs.
 * 3. Rank, count and filter by the risk of the rows.
 * 4. Read the counters of the page again, and the alerts that owners got.
 *
 * A query for the limits of one place also reads nine months of days, to test past forecasts.
 */
import { isCap } from '../../../policies/limits/cap.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import type { GroupRowsContext } from '../overview/group-rows.ts';
import { type CountersByName, rankedNow } from '../reading/counters-now.ts';
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
import { type Refusals, refusalsNow } from '../standing/refusals.ts';
import { compareRisks, isAtRisk, isRefusing, isUsedUp, type RiskLevel, riskOf } from '../standing/risk.ts';
import { byName, fullestFirst, usedAtLeast } from './budget-order.ts';
import { limitsAsked } from './limits-asked.ts';
import type { BudgetRow, Budgets, BudgetsQuery } from './model.ts';

const FORECAST_MAX = 400;
/** Three requests of a hundred keys. */
const LEADING_MAX = 300;
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
    const order = asked.sort ?? (asked.holding === undefined ? 'trouble' : 'closest');
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
    const tested = asked.holding !== undefined;
    const rowOf = (
      { limit, byDefault, counter }: CountedLimit,
      { counted, usage, refusals, alerts }: RowBasis,
    ): LimitRow =>
      limitRow(limit, {
        nowMs,
        counter: counted.get(counter.name),
        asked: modeOf(limit, placedChainOf(limit.subject, directory)),
        usage: usage.get(limit.subject),
        tested,
        refusals,
        byDefault,
        alerts: alerts?.get(counter.name),
        cohort: cohortStanding(limit, limits, counted, nowMs),
      });

    const fullest = fullestFirst(usedAtLeast(all, asked, counters, nowMs), counters, nowMs);
    const forecast = fullest.filter(isForecast).slice(0, FORECAST_MAX);
    const usage = await usageOf(forecast, tested, nowMs, reading);
    const refusals = await refusalsNow(usage, nowMs, reading);
    const ranked = await rankedNow(fullest, { counters, isCopied }, reading.counters, {
      levelOf: (each, counted) => riskOf(rowOf(each, { counted, usage, refusals })),
      ...{ compare: compareRisks, leadingMax: LEADING_MAX },
      keysOf: (each) => keysOf([each]),
    });
    const matches = (level: RiskLevel): boolean =>
      asked.trouble === undefined || (asked.trouble === 'used-up' ? isUsedUp : isAtRisk)(level);
    const found = ranked.filter(({ level }) => matches(level)).map(({ each }) => each);
    const ordered = inOrder(found);
    const page = ordered.slice(start, start + max);
    const unforecast = page.filter((each) => isForecast(each) && !usage.has(each.limit.subject));
    const [now, alerts, more] = await Promise.all([
      isOnePage ? counters : reading.counters.fresh(keysOf(page)),
      alertsOfLimits(page, reading, nowMs),
      usageOf(unforecast.slice(0, FORECAST_MAX), tested, nowMs, reading),
    ]);
    const basis = { counted: now, usage: new Map([...usage, ...more]), refusals, alerts };
    const fresh = page.map((each) => rowOf(each, basis)).filter((row) => matches(riskOf(row)));
    if (order === 'trouble') fresh.sort((a, b) => compareRisks(riskOf(a), riskOf(b)));
    const paths = fresh.map(({ subject }) => subjectLabelOf(subject, directory));
    const labelOf = await userLabels(paths, reading.userNames);
    const rows = fresh.map(
      (row, index): BudgetRow => ({
        ...row,
        path: labelOf(paths[index] ?? ''),
        addressee: findRecipient(row.subject, row.id, { limits, directory }).owner,
        canRunOut: canRunOut(row),
      }),
    );
    const count = (is: (level: RiskLevel) => boolean): number =>
      ranked.filter(({ level }) => is(level)).length;
    const usedUp = count(isUsedUp);
    return {
      ...(set !== undefined && { set }),
      currency: reading.policy.currency,
      nowMs,
      rows,
      total: ordered.length,
      first: page.length === 0 ? 0 : start + 1,
      ...(start + max < ordered.length && { next: String(start + max) }),
      ...(start > 0 && { previous: String(Math.max(0, start - max)) }),
      refusing: count(isRefusing),
      usedUp,
      runsOut: count((level) => isAtRisk(level) || isUsedUp(level)) - usedUp,
      forecastMax: FORECAST_MAX,
    };

    function inOrder(some: readonly CountedLimit[]): readonly CountedLimit[] {
      switch (order) {
        case 'trouble':
          return some;
        case 'fullest':
          return fullestFirst(some, counters, nowMs);
        case 'name':
          return byName(some, directory);
        case 'closest': {
          const kept = new Set(some);
          return all.filter((each) => kept.has(each));
        }
      }
    }
  };

/** The reads that a row is built from. */
interface RowBasis {
  readonly counted: CountersByName;
  readonly usage: UsageBySubject;
  readonly refusals: Refusals;
  readonly alerts?: AlertsByCounter;
}

const isForecast = ({ limit }: CountedLimit): boolean => canRunOut(limit) && !isCap(limit.subject);

async function usageOf(
  some: readonly CountedLimit[],
  tested: boolean,
  nowMs: number,
  reading: ReadContext,
): Promise<UsageBySubject> {
  const span = (tested ? testedSpan : historySpan)(today(reading.zone, nowMs));
  const subjects = some.map(({ limit }) => limit.subject);
  return subjects.length === 0 ? new Map() : readManyDays(subjects, span, reading);
}
