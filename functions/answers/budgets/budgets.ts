/**
 * All limits in force of everything somebody sees, and how they stand.
 *
 * Reads one counter a limit; where a page does not hold them all, they are ordered by counters at most a minute old and only
 * the page's are read anew. A forecast reads eight weeks of days a subject, and so is made of {@link FORECAST_MAX}
 * at most; nine months where only the limits of one place are asked for, which says how far off forecasts were as well.
 */
import { counterName } from '../../../policies/claim.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { counterOf, limitAt, limitsOn } from '../../../policies/limits/limits.ts';
import { validAt } from '../../../policies/limits/period.ts';
import type { GroupRowsContext } from '../overview/group-rows.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf, subjectsAbove } from '../reading/subjects-above.ts';
import { readDays, today, type UsageBySubject } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { askedModes } from '../standing/asked-mode.ts';
import { type SubjectLimit, subjectLimitsBelow } from '../standing/group-limits.ts';
import { cohortStanding, limitRow, percentOf, rowCounters } from '../standing/limit-row.ts';
import type { LimitRow } from '../standing/model.ts';
import { canRunOut, historySpan, testedSpan } from '../standing/outlook.ts';
import type { BudgetRow, Budgets, BudgetsQuery } from './model.ts';

const FORECAST_MAX = 400;
const ROWS_DEFAULT = 100;
export const BUDGET_ROWS_MAX = 1_000;
const RECENT_MS = 60_000;

export const budgetsOf =
  (reading: ReadContext) =>
  async (asked: BudgetsQuery, viewer: Viewer): Promise<Budgets> => {
    const [{ set, limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, places.directory);
    const from: GroupRowsContext = { limits, places, scope, nowMs };
    const max = Math.min(BUDGET_ROWS_MAX, Math.max(1, asked.max ?? ROWS_DEFAULT));
    const start = /^\d{1,7}$/.test(asked.cursor ?? '') ? Number(asked.cursor) : 0;

    const all = havingsAsked(asked, from);
    const keys = all.flatMap(({ limit }) => rowCounters(limit, limits, nowMs));
    const isOnePage = all.length <= max;
    const counters = isOnePage
      ? await reading.counters.fresh(keys)
      : (await reading.counters.recent(keys, RECENT_MS)).counters;
    const ordered = inOrder(all, asked, counters, nowMs);
    const forecast = asked.forecast === true ? ordered.slice(0, FORECAST_MAX) : [];
    const tested = asked.holding !== undefined;
    const usage = await usageOf(forecast, tested, from, reading);

    const modeOf = askedModes(reading.policy, limits);
    const rowOf = (counted: CountersByName) => {
      return ({ limit, byDefault }: SubjectLimit): BudgetRow => {
        const row: LimitRow = limitRow(limit, {
          nowMs,
          counter: counted.get(counterName(counterOf(limit, nowMs))),
          asked: modeOf(limit, placedChainOf(limit.subject, places.directory)),
          usage: usage.get(limit.subject),
          tested,
          byDefault,
          cohort: cohortStanding(limit, limits, counted, nowMs),
        });
        return { ...row, path: subjectLabelOf(row.subject, places.directory), canRunOut: canRunOut(row) };
      };
    };
    // Those that are forecast come before the others in every order.
    const shown =
      asked.forecast === true && asked.holding === undefined && start < FORECAST_MAX
        ? [...runsOutFirst(forecast, rowOf(counters)), ...ordered.slice(forecast.length)]
        : ordered;
    const page = shown.slice(start, start + max);
    const now = isOnePage
      ? counters
      : await reading.counters.fresh(page.flatMap(({ limit }) => rowCounters(limit, limits, nowMs)));
    return {
      ...(set !== undefined && { set }),
      currency: reading.policy.currency,
      nowMs,
      rows: page.map(rowOf(now)),
      total: ordered.length,
      ...(start + max < ordered.length && { next: String(start + max) }),
      forecastMax: FORECAST_MAX,
    };
  };

function havingsAsked({ below, holding }: BudgetsQuery, from: GroupRowsContext): readonly SubjectLimit[] {
  const { limits, places, scope } = from;
  const { directory } = places;
  if (holding !== undefined)
    return [...new Set([holding, ...subjectsAbove(holding, directory), 'instance'])]
      .filter((subject) => scope.sees(subject))
      .flatMap((subject) => havingsOn(subject, from));
  const groups = places.groups
    // There is a personal namespace for each user: those are told where somebody asks for them.
    .filter(({ personal }) => !personal || below !== undefined)
    .map(({ id }) => `group/${id}`);
  const subjects = new Set([...[...limits.bySubject.keys()].filter((each) => !isCap(each)), ...groups]);
  return [...subjects]
    .filter((subject) => scope.sees(subject) && isBelow(subject, below, from))
    .flatMap((subject) => havingsOn(subject, from))
    .filter(({ limit }) => limit.mode !== 'off');
}

/** What a subject is asked for now; groups include what they have by default. */
function havingsOn(subject: string, { limits, places, nowMs }: GroupRowsContext): readonly SubjectLimit[] {
  const group = subject.startsWith('group/')
    ? places.directory.groupById.get(Number(subject.slice('group/'.length)))
    : undefined;
  return group === undefined
    ? validAt(limitsOn(limits, subject), nowMs).map((limit) => ({ limit, byDefault: false }))
    : subjectLimitsBelow(group, limits, nowMs);
}

/** A group has everything below it below it, and the projects of its groups, too. */
const isBelow = (subject: string, top: string | undefined, { places }: GroupRowsContext): boolean =>
  top === undefined ||
  subject === top ||
  placedChainOf(subject, places.directory).some(({ id }) => `group/${id}` === top);

function inOrder(
  all: readonly SubjectLimit[],
  { holding, percentMin }: BudgetsQuery,
  counters: CountersByName,
  nowMs: number,
): readonly SubjectLimit[] {
  const counted = all.map((having) => {
    const { amount } = limitAt(having.limit, nowMs);
    const committed = counters.get(counterName(counterOf(having.limit, nowMs)))?.committed ?? 0;
    const share = amount === 'unlimited' ? -1 : amount === 0 ? 1 : committed / amount;
    return { having, amount, committed, share };
  });
  const matching = counted.filter(
    ({ amount, committed }) =>
      percentMin === undefined || (amount !== 'unlimited' && percentOf(committed, amount) >= percentMin),
  );
  if (holding === undefined)
    matching.sort((a, b) => b.share - a.share || compare(a.having.limit.subject, b.having.limit.subject));
  return matching.map(({ having }) => having);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function usageOf(
  forecast: readonly SubjectLimit[],
  tested: boolean,
  { nowMs }: GroupRowsContext,
  { usage, zone }: ReadContext,
): Promise<UsageBySubject> {
  const subjects = forecast.flatMap(({ limit }) => (canRunOut(limit) ? [limit.subject] : []));
  const span = (tested ? testedSpan : historySpan)(today(zone, nowMs));
  return subjects.length === 0 ? new Map() : readDays(subjects, span, usage);
}

function runsOutFirst(
  all: readonly SubjectLimit[],
  rowOf: (having: SubjectLimit) => BudgetRow,
): readonly SubjectLimit[] {
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
