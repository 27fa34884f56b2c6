/**
 * All limits in force that a caller sees.
 *
 * 1. Read one counter per limit; of thousands copies, and those of the {@link LEADING_MAX} fullest again.
 * 2. Forecast the {@link FORECAST_MAX} fullest, from four weeks of days, and read which budgets refuse jobs.
 * 3. Rank, count and filter by the risk of the rows.
 * 4. Read the counters of the page again, and the alerts that owners got.
 *
 * A query for the limits of one subject also reads nine months of days, to test past forecasts.
 */

import { pathKey } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { limitAt } from '../../../policies/limits/limits.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { compareTexts } from '../../../policies/text/plain-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RecountOutcome } from '../../core/ledger/checkpoints.ts';
import type { UsageCheck } from '../../core/ledger/recount-round.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import { searchKey } from '../groups/group-rows.ts';
import {
  type Caller,
  type CallerView,
  pageOf,
  type ReadContext,
  readCallerView,
  readPlaces,
} from '../reading/context.ts';
import { type CountersByName, layered } from '../reading/counters-now.ts';
import { readManyDays } from '../reading/read-sums.ts';
import { formatSubjectLabel, isWithin, subjectsAbove, userLabels } from '../reading/scope.ts';
import { today } from '../reading/usage-days.ts';
import { alertsOfLimits, limitRows, percentOf, rowCounters } from '../status/limit-row.ts';
import { canRunOut, historySpan, testedSpan } from '../status/outlook.ts';
import {
  compareRisks,
  isAtRisk,
  isRefusing,
  isUsedUp,
  type RiskLevel,
  refusalsNow,
  riskOf,
} from '../status/risk.ts';
import { type CountedLimit, countedLimits, shareOf } from '../status/subject-limits.ts';
import { SUBJECT_KINDS } from './filters.ts';
import type { BudgetRow, Budgets, BudgetsQuery, Reconciliation } from './models.ts';

const FORECAST_MAX = 400;
/** Three requests of a hundred keys. */
const LEADING_MAX = 300;
export const BUDGET_ROWS_MAX = 1_000;
const ROWS = { usual: 100, max: BUDGET_ROWS_MAX };

export const budgetsOf =
  (reading: ReadContext) =>
  async (query: BudgetsQuery, caller: Caller): Promise<Budgets> => {
    const view = await readCallerView(reading, caller);
    const { set, limits, directory, nowMs } = view;
    const { policy } = reading;
    const tested = query.holding !== undefined;
    const order = query.sort ?? (tested ? 'closest' : 'risk');
    const keysOf = (some: readonly CountedLimit[]) =>
      some.flatMap(({ limit, counter }) => {
        if (isCap(limit.subject)) return [];
        return limit.cohort === undefined ? [counter] : rowCounters(limit, limits, nowMs);
      });
    const freshOf = (some: readonly CountedLimit[]) => reading.counters.fresh(keysOf(some));

    const all = matchingLimits(query, view);
    const isOnePage = all.length <= (query.max ?? ROWS.usual);
    const { counters: copies, isCopied } = isOnePage
      ? { counters: await freshOf(all), isCopied: false }
      : await reading.counters.recent(keysOf(all));
    const fullest = fullestFirst(usedAtLeast(all, query.percentMin, copies, nowMs), copies, nowMs);
    const leaders = fullest.filter(isForecast).slice(0, FORECAST_MAX);
    const counters = isCopied ? layered(await freshOf(fullest.slice(0, LEADING_MAX)), copies) : copies;
    const span = (tested ? testedSpan : historySpan)(today(reading.zone, nowMs));
    const usageOf = (some: readonly CountedLimit[]) => {
      const subjects = some.map(({ limit }) => limit.subject);
      return readManyDays(subjects, span, reading);
    };
    const usage = await usageOf(leaders);
    const refusals = await refusalsNow(usage, nowMs, reading);
    const basis = { limits, directory, policy, nowMs, tested, refusals };
    const rankedRow = limitRows({ ...basis, usage, counters });
    const ranked = fullest
      .map((each) => ({ each, level: riskOf(rankedRow(each)) }))
      .sort((a, b) => compareRisks(a.level, b.level));
    const matches = (level: RiskLevel): boolean =>
      query.risk === undefined || (query.risk === 'used-up' ? isUsedUp : isAtRisk)(level);
    const found = ranked.filter(({ level }) => matches(level)).map(({ each }) => each);
    const { rows: shown, ...page } = pageOf(inOrder(found), query, ROWS);
    const unforecast = shown.filter((each) => isForecast(each) && !usage.has(each.limit.subject));
    const [now, alerts, more] = await Promise.all([
      isOnePage ? counters : freshOf(shown),
      alertsOfLimits(shown, reading, nowMs),
      usageOf(unforecast.slice(0, FORECAST_MAX)),
    ]);
    const rowOf = limitRows({ ...basis, counters: now, usage: new Map([...usage, ...more]), alerts });
    const fresh = shown.map(rowOf).filter((row) => matches(riskOf(row)));
    if (order === 'risk') fresh.sort((a, b) => compareRisks(riskOf(a), riskOf(b)));
    const paths = fresh.map(({ subject }) => formatSubjectLabel(subject, directory));
    const labelOf = await userLabels(paths, reading.userNames);
    const count = (is: (level: RiskLevel) => boolean) => ranked.filter(({ level }) => is(level)).length;
    const usedUp = count(isUsedUp);
    return {
      ...(set !== undefined && { set }),
      ...{ currency: policy.currency, nowMs, total: found.length },
      rows: fresh.map(
        (row, index): BudgetRow => ({
          ...row,
          path: labelOf(paths[index] ?? ''),
          recipient: findRecipient(row.subject, row.id, { limits, directory }).owner,
          canRunOut: canRunOut(row),
        }),
      ),
      ...{ first: page.first, ...page.next, ...page.previous },
      ...{ refusing: count(isRefusing), usedUp, forecastMax: FORECAST_MAX },
      runsOut: count((level) => isAtRisk(level) || isUsedUp(level)) - usedUp,
    };

    function inOrder(some: readonly CountedLimit[]): readonly CountedLimit[] {
      if (order === 'risk') return some;
      if (order === 'fullest') return fullestFirst(some, counters, nowMs);
      const found = new Set(some);
      const closest = all.filter((each) => found.has(each));
      if (order === 'closest') return closest;
      const names = new Map(all.map((each) => [each, formatSubjectLabel(each.limit.subject, directory)]));
      return closest.sort((a, b) => compareTexts(names.get(a), names.get(b)));
    }
  };

const isForecast = ({ limit }: CountedLimit): boolean => canRunOut(limit) && !isCap(limit.subject);

function usedAtLeast(
  all: readonly CountedLimit[],
  percentMin: number | undefined,
  counters: CountersByName,
  nowMs: number,
): readonly CountedLimit[] {
  if (percentMin === undefined) return all;
  return all.filter(({ limit, counter }) => {
    const { amount } = limitAt(limit, nowMs);
    const committed = counters.get(counter.name)?.committed ?? 0;
    return amount !== 'unlimited' && percentOf(committed, amount) >= percentMin;
  });
}

const fullestFirst = (
  all: readonly CountedLimit[],
  counters: CountersByName,
  nowMs: number,
): readonly CountedLimit[] =>
  all
    .map((each) => ({ each, share: shareOf(each, counters, nowMs) }))
    .sort((a, b) => b.share - a.share || compareTexts(a.each.limit.subject, b.each.limit.subject))
    .map(({ each }) => each);

function matchingLimits(query: BudgetsQuery, view: CallerView): readonly CountedLimit[] {
  const { directory } = view;
  const limitsOf = countedLimits(view);
  const search = searchKey(query.search);
  return subjectsToShow(query, search, view).flatMap((subject) => {
    if (query.kind !== undefined && kindOf(subject) !== query.kind) return [];
    const isFound =
      search === '' || `${pathKey(formatSubjectLabel(subject, directory))} ${subject}`.includes(search);
    return limitsOf(subject).filter(
      ({ limit }) =>
        (query.unit === undefined || limit.kind === query.unit) &&
        (query.holding !== undefined || limit.mode !== 'off') &&
        (isFound || pathKey(`${limit.id} ${limit.owner ?? ''}`).includes(search)),
    );
  });
}

function subjectsToShow(
  { below, holding, kind, caps }: BudgetsQuery,
  search: string,
  { limits, places, directory, scope }: CallerView,
): readonly string[] {
  if (holding !== undefined)
    return [holding, ...subjectsAbove(holding, directory)].filter((subject) => scope.sees(subject));
  // Everything is below the instance.
  const top = below === 'instance' ? undefined : below;
  const groups = places.groups
    // Each user has a personal namespace: list them only on request.
    .filter(({ personal }) => !personal || top !== undefined || search !== '')
    .map(({ id }) => `group/${id}`);
  const showsCaps = caps === true || kind === 'cap';
  const written = [...limits.bySubject.keys()].filter((each) => showsCaps || !isCap(each));
  return [...new Set([...written, ...groups])].filter(
    (subject) => scope.sees(subject) && (top === undefined || isWithin(subject, top, directory)),
  );
}

const kindOf = (subject: string): BudgetsQuery['kind'] =>
  isCap(subject) ? 'cap' : SUBJECT_KINDS.find((kind) => subject === kind || subject.startsWith(`${kind}/`));

const CACHED_MS = 60_000;
const LISTED_MAX = 20;

export function reconciliationOf(reading: ReadContext): (caller: Caller) => Promise<Reconciliation> {
  const { recounts, clock } = reading;
  let known: { readonly atMs: number; readonly outcome: RecountOutcome | undefined } | undefined;
  const outcomeNow = async (): Promise<RecountOutcome | undefined> => {
    const nowMs = clock.nowMs();
    if (known === undefined || nowMs - known.atMs >= CACHED_MS)
      known = { atMs: nowMs, outcome: await recounts?.read() };
    return known.outcome;
  };
  return async (caller) => {
    const [outcome, { directory, scope }] = await Promise.all([outcomeNow(), readPlaces(reading, caller)]);
    if (outcome === undefined) return UNCHECKED;
    const { recountedAtMs: checkedAtMs } = outcome;
    const seen = outcome.drifting.filter(({ key }) => scope.seesAll || scope.sees(key.subject));
    const differing = seen.slice(0, LISTED_MAX).map(({ key, committed, recounted }) => {
      const { subject, limit, period } = key;
      const path = formatSubjectLabel(subject, directory);
      return { subject, path, limit, period, beyond: committed - recounted };
    });
    // Unlisted differences may belong to any group, so none is reported as correct.
    const unlisted = seen.length - differing.length + outcome.unlisted;
    const usage = scope.seesAll ? outcome.usage : undefined;
    const base = { checkedAtMs, differing, unlisted, ...withoutAbsent({ usage }) };
    const when = `checked ${instantText(checkedAtMs, reading.zone)}`;
    const count = differing.length + unlisted;
    if (count === 0) return { ...base, state: 'agrees', text: `${equalText(outcome.usage)}, ${when}.` };
    const text = `${count} ${count === 1 ? 'counter differs' : 'counters differ'} from the jobs that statements are made of, ${when}.`;
    return { ...base, state: 'differs', text };
  };
}

/** Usage that was not compared is left out. */
const equalText = (usage: UsageCheck | undefined): string =>
  usage === undefined || usage.failed > 0
    ? 'All counters agree with the statements'
    : 'All counters agree with usage and statements';

const UNCHECKED: Reconciliation = {
  ...{ state: 'unchecked', differing: [], unlisted: 0 },
  text: 'Not recounted yet: the first runs of the recount do it.',
};
