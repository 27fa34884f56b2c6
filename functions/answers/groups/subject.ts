import { ancestorsOf } from '../../../policies/directory.ts';
/**
 * One group, project, runner class or the instance. Reads: the counters of its limits, its days of nine months and since the
 * start of the chart (at most a year), a list of projects a day, the sheets of four months at most, thirty records, a page
 * of the log, and the rows of its children.
 */
import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import { CAP_KINDS, capSubject, placeOfSubject } from '../../../policies/limits/cap.ts';
import { limitAt, limitPeriod, limitsOn } from '../../../policies/limits/limits.ts';
import { runnerClassNames } from '../../../policies/price.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { isForecastable, SPENT_KINDS, UNIT_OF } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { mayDo } from '../../core/limits/rights.ts';
import { firstOfMonth } from '../../core/usage/sums.ts';
import { rejectedJobs } from '../job/recorded-job.ts';
import { visibleHistory } from '../limits/edits.ts';
import {
  type Caller,
  type CallerView,
  type ReadContext,
  readCallerView,
  rightsOf,
} from '../reading/context.ts';
import { formatSubjectLabel, subjectsAbove } from '../reading/scope.ts';
import { type DayUsage, readDays, today } from '../reading/usage-days.ts';
import { alertsOfLimits, freezeRows, grantRows, limitRows, rowCounters } from '../status/limit-row.ts';
import type { LimitRow } from '../status/model.ts';
import { aheadOf, testedSpan, usedOn } from '../status/outlook.ts';
import { refusalsNow } from '../status/risk.ts';
import { allSubjectLimits, countedLimits, isBudget } from '../status/subject-limits.ts';
import { firstToRunOut, groupPlaceOf, groupRows } from './group-rows.ts';
import type { BurnUpChart, SubjectView } from './model.ts';
import { usageView } from './usage.ts';

const CHILDREN_MAX = 25;
const HISTORY_MAX = 20;

/** Returns undefined if it does not exist or is not visible. @param chart - its limit; by default the budget that runs out first */
export const subjectViewOf =
  (reading: ReadContext) => async (subject: string, chart: { readonly limit?: string }, caller: Caller) => {
    const view = await readCallerView(reading, caller);
    const { set, limits, places, directory, scope, nowMs } = view;
    const { policy, zone } = reading;
    const kind = kindOf(subject, reading, view);
    if (kind === undefined || !scope.sees(subject)) return undefined;

    const havings = allSubjectLimits(subject, view);
    const [counters, alerts] = await Promise.all([
      reading.counters.fresh(havings.flatMap(({ limit }) => rowCounters(limit, limits, nowMs))),
      alertsOfLimits(havings, reading, nowMs),
    ]);
    const [todayNumber, monthFrom] = [today(zone, nowMs), firstOfMonth(zone, nowMs)];
    const starts = havings
      .filter(({ limit }) => isForecastable(limit.kind))
      .flatMap(({ limit }) => chartStart(limitPeriod(limit, nowMs), limit.zone, todayNumber) ?? []);
    const first = Math.min(testedSpan(todayNumber).from, monthFrom, ...starts);
    const days = await readDays([subject], { from: first, to: todayNumber }, reading.usage);
    const usage = days.get(subject) ?? [];
    const refusals = await refusalsNow(days, nowMs, reading);
    const basis = { limits, directory, policy, counters, nowMs };
    const rows = havings.map(limitRows({ ...basis, usage: days, alerts, refusals, tested: true }));
    const counted = rows.filter(
      (row) => row.inForce && row.amount !== 'unlimited' && isForecastable(row.kind),
    );
    const charted = rows.find(({ id }) => id === chart.limit) ?? firstToRunOut(counted);
    const burnUp = charted && burnUpOf(charted, usage, nowMs, todayNumber);
    const chartFrom = charted && chartStart(charted.period, charted.zone, todayNumber);
    const span = { from: (burnUp && chartFrom) ?? monthFrom, to: todayNumber };
    const group = subject.startsWith('group/') ? Number(subject.slice(6)) : undefined;
    const children = (group && places.childrenOf.get(group)) || [];
    const [used, latest, above, history, childRows] = await Promise.all([
      usageView(subject, usage, span, directory, reading),
      rejectedJobs(subject, view, reading),
      limitsAbove(subject, view, reading),
      visibleHistory({ subject, max: HISTORY_MAX }, scope, reading),
      groupRows(children.slice(0, CHILDREN_MAX).map(groupPlaceOf), view, reading),
    ]);
    const caps = CAP_KINDS.flatMap((each) => limitsOn(limits, capSubject(subject, each)));
    const { cost, capacity } = limits.rollouts.get(subject) ?? {};
    return {
      ...{ set, currency: policy.currency, nowMs, subject, kind, zone },
      path: formatSubjectLabel(subject, directory),
      above: subjectsAbove(subject, directory)
        .filter((each) => scope.sees(each))
        .reverse()
        .map((each) => ({ subject: each, path: formatSubjectLabel(each, directory) })),
      limits: rows,
      caps: caps.map((limit) => ({ limit, byDefault: false })).map(limitRows(basis)),
      limitsAbove: above,
      ...(burnUp !== undefined && { burnUp }),
      usage: { ...used, rejections: { ...used.rejections, latest } },
      grants: grantRows(havings, nowMs),
      freezes: freezeRows(subject, view),
      ...((cost ?? capacity) !== undefined && { rollout: withoutAbsent({ cost, capacity }) }),
      history,
      children: childRows,
      childCount: children.length,
      may: subjectRightsOf(subject, caller, view),
    };
  };

function kindOf(
  of: string,
  { policy }: ReadContext,
  { directory: { groupById, projectById } }: CallerView,
): SubjectView['kind'] | undefined {
  const subject = placeOfSubject(of);
  if (subject === 'instance') return 'instance';
  const [kind, name = ''] = subject.split(/\/(.*)/s);
  if (kind === 'group') return groupById.has(Number(name)) ? kind : undefined;
  if (kind === 'project') return projectById.has(Number(name)) ? kind : undefined;
  return kind === 'runner-class' && runnerClassNames(policy.prices).includes(name) ? kind : undefined;
}

function subjectRightsOf(subject: string, { roles }: Caller, view: CallerView): SubjectView['may'] {
  const rights = rightsOf(roles);
  const may = (act: Parameters<typeof mayDo>[0]): boolean => mayDo(act, subject, rights, view);
  /** True if a limit above, in any unit, bounds it. */
  const mayBounded = (act: 'loosen' | 'grant'): boolean =>
    SPENT_KINDS.some((kind) => mayDo(act, subject, rights, view, UNIT_OF[kind]));
  return {
    tighten: may('tighten'),
    loosen: mayBounded('loosen'),
    grant: mayBounded('grant'),
    freeze: may('tighten'),
    breakGlass: may('break-glass'),
    rollOut: may('roll-out'),
    ask: may('ask'),
  };
}

/**
 * Lists budgets above that bind these jobs and are not visible: by the group's disclosure none, the one with least left,
 * or all, as on the page of a rejected job. @throws {LedgerError}
 */
async function limitsAbove(
  subject: string,
  view: CallerView,
  { counters, policy }: ReadContext,
): Promise<SubjectView['limitsAbove']> {
  const { directory, scope, nowMs } = view;
  const { visibility } = directory.projectById.get(Number(subject.split('/')[1])) ?? {};
  const disclosure = disclosureFor(
    {
      ...{ ancestors: ancestorsOf(subject, directory), known: true, personal: false },
      ...(subject.startsWith('project/') && visibility !== undefined && { visibility }),
    },
    policy.disclose,
  );
  if (scope.seesAll || disclosure === 'none') return [];
  const hidden = subjectsAbove(subject, directory).filter((each) => !scope.sees(each));
  const budgets = hidden.flatMap(countedLimits(view)).filter(({ limit }) => isBudget(limit));
  const now = await counters.fresh(budgets.map(({ counter }) => counter));
  const rows = budgets.flatMap(({ limit, counter }) => {
    const { subject: on, amount, unit, contact } = limitAt(limit, nowMs);
    if (amount === 'unlimited') return [];
    const left = amount - (now.get(counter.name)?.committed ?? 0);
    const periodLabel = limitPeriod(limit, nowMs)?.label;
    return [
      {
        label: formatSubjectLabel(on, directory),
        unit,
        amount,
        left,
        ...withoutAbsent({ periodLabel, contact }),
      },
    ];
  });
  if (disclosure === 'all') return rows;
  return rows.toSorted((a, b) => a.left / a.amount - b.left / b.amount).slice(0, 1);
}

/** A year and the partial days at both ends. */
const CHART_DAYS_MAX = 368;

/** First day of a limit's chart, in the limit's zone; undefined: it has no period. */
function chartStart(period: LimitRow['period'], zone: string, todayNumber: number): number | undefined {
  const earliest = todayNumber - CHART_DAYS_MAX + 1;
  if (period === undefined || !Number.isFinite(period.startMs)) return period && earliest;
  return Math.max(dayNumber(dayIn(zone, period.startMs)), earliest);
}

const SHORT_PERIODS: readonly unknown[] = ['minute', 'hour', 'day'];

/**
 * Returns undefined if the limit is no budget of days, or not counted. What the counter has beyond the days is added to
 * today, so that the line ends at the counter's amount.
 */
function burnUpOf(
  row: LimitRow,
  usage: readonly DayUsage[],
  nowMs: number,
  todayNumber: number,
): BurnUpChart | undefined {
  const { kind, unit, period, settled, held = 0, zone, amount, softAmount } = row;
  const from = chartStart(period, zone, todayNumber);
  if (!isForecastable(kind) || period === undefined || from === undefined) return undefined;
  if (settled === undefined || SHORT_PERIODS.includes(row.per)) return undefined;
  let total = 0;
  const days = usage
    .filter(({ number }) => number >= from && number <= todayNumber)
    .map((day) => {
      const used = usedOn(day, kind);
      total += used;
      return { day: day.day, used, total };
    });
  const committed = settled + held;
  const last = days.at(-1);
  if (last !== undefined) last.total = committed;
  return {
    ...{ limit: row.id, unit, period, days, unexplained: committed - total },
    ...(amount !== 'unlimited' && { amount }),
    ...withoutAbsent({ softAmount }),
    ahead: aheadOf({ usage, kind, committed, nowMs, endMs: period.endMs, zone, tested: true }),
  };
}
