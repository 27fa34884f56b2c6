/** A report with so many rows that would be listed, were they not cut; made of small sums, so that it adds up. */

import { dayText } from '../../../../functions/answers/reading/usage-days.ts';
import {
  SPEND_KEYS,
  type SpendAnswer,
  type SpendFigures,
  type SpendQuery,
  type SpendReport,
} from '../../../../functions/answers/report/model.ts';
import { periodBefore, reportPeriod } from '../../../../functions/answers/report/report-period.ts';
import { calendarDay, DAY_MS } from '../../../../policies/limits/calendar.ts';
import { aGroup, NOW_MS } from './rows.ts';

const TODAY = Math.floor(NOW_MS / DAY_MS);

export function spendAnswer(asked: SpendQuery, count: number): SpendAnswer {
  const period = reportPeriod(asked, TODAY);
  if ('outcome' in period) return period;
  const before = asked.compare === false ? undefined : periodBefore(period);
  const by = asked.by ?? (asked.project === undefined ? 'group' : 'day');
  const days = period.to - period.from + 1;
  const isTime = by === 'day' || by === 'month' || by === 'hour';
  const all = Array.from(
    { length: count === 0 ? 0 : by === 'day' ? days : by === 'hour' ? 168 : count },
    (_, index) => {
      const micros = by === 'hour' ? hourMicros(index) : Math.round(812_000_000 / (index + 1.7)) * 10;
      const name =
        by === 'day'
          ? dayText(period.from + index)
          : by === 'month'
            ? monthOf(index)
            : by === 'hour'
              ? `${DAYS[Math.floor(index / 24)]} ${String(index % 24).padStart(2, '0')}:00`
              : aGroup(index).path;
      return {
        ...{ name, ...(isTime ? {} : { subject: `group/${100 + index}` }) },
        ...figures(micros, 900 - index * 7),
        ...(before !== undefined && {
          before: { micros: Math.round(micros * (0.7 + (index % 5) / 8)), jobs: 700, seconds: 90_000 },
        }),
        trend: isTime
          ? []
          : Array.from(
              { length: Math.min(days, 31) },
              (_, day) => micros * (1 + Math.sin(day * (1 + index))),
            ),
      };
    },
  );
  const rows = isTime ? all : all.slice(0, asked.top ?? 20);
  const sum = (of: (row: (typeof all)[number]) => number, from = all) =>
    from.reduce((total, row) => total + of(row), 0);
  const together = (from: typeof all) => ({
    ...figures(
      sum(({ micros }) => micros, from),
      sum(({ jobs }) => jobs, from),
    ),
    ...(before !== undefined && {
      before: { micros: sum((row) => row.before?.micros ?? 0, from), jobs: 0, seconds: 0 },
    }),
  });
  const rest = all.slice(rows.length);
  return {
    outcome: 'reported',
    report: {
      subject: asked.group === undefined ? 'instance' : 'group/101',
      path: asked.group === undefined ? 'The whole GitLab' : 'acme/payments',
      ...{ fromDay: dayText(period.from), toDay: dayText(period.to) },
      ...(before !== undefined && { before: { fromDay: dayText(before.from), toDay: dayText(before.to) } }),
      ...{
        by,
        keys: [...SPEND_KEYS],
        currency: 'EUR',
        zone: 'Europe/Berlin',
        trendDays: 1,
        packedAtMs: NOW_MS - 25 * 60_000,
      },
      rows,
      other: {
        ...{ rows: rest.length, label: `${rest.length} more groups, and jobs of no group that is listed` },
        ...together(rest),
      },
      total: together(all),
      queue: queueOf(sum(({ queuedKnown }) => queuedKnown)),
      notes: [],
    },
  };
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Office hours, and something at night. */
const hourMicros = (hour: number): number =>
  Math.round(Math.max(0.4, 9 - Math.abs((hour % 24) - 13) ** 1.1) * (hour >= 120 ? 600_000 : 41_000_000));

const monthOf = (index: number): string => {
  const { year } = calendarDay(TODAY);
  return new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 7);
};

const figures = (micros: number, jobs: number): SpendFigures => ({
  ...{ micros, heldMicros: Math.round(micros / 40), jobs, seconds: jobs * 240 },
  ...{ rejected: Math.floor(jobs / 30), ranRejected: 0, neverRan: Math.floor(jobs / 45), endUnknown: 0 },
  ...{ unmetered: Math.floor(jobs / 200), bypass: Math.floor(jobs / 90), exempt: 0 },
  ...{ estimated: Math.floor(jobs * 0.9), overEstimate: Math.floor(jobs * 0.08) },
  ...{ ran: Math.floor(jobs * 0.95), retriesKnown: Math.floor(jobs * 0.9), retries: Math.floor(jobs / 25) },
  ...{ retryMicros: Math.round(micros / 22), queuedKnown: Math.floor(jobs * 0.9), queuedSeconds: jobs * 61 },
});

const queueOf = (jobs: number): SpendReport['queue'] => {
  const shares = [0.22, 0.41, 0.2, 0.1, 0.05];
  const steps = [10, 60, 300, 900, 3_600].map((toSeconds, index) => ({
    ...{ toSeconds, jobs: Math.floor(jobs * (shares[index] ?? 0)) },
  }));
  return [...steps, { jobs: steps.reduce((left, step) => left - step.jobs, jobs) }];
};
