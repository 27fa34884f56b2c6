/** Last year's use and forecast of each limit, for the columns of an export. */
import { type DailyUsage, dailyRate, historyBefore } from '../../../policies/forecast.ts';
import { calendarDay, dayIn, dayNumber, dayStartMs } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { isForecastable, kindRow, type LimitKind } from '../../../policies/unit.ts';
import type { LimitFigures } from '../../core/limits/csv/columns.ts';
import { entryKey } from '../../core/limits/csv/export-limits.ts';
import type { SheetSum } from '../../core/sheets/sheet-rows.ts';
import type { SheetKind } from '../../core/sheets/sheet-store.ts';
import type { ReadContext } from '../reading/context.ts';
import { readSums, sheetRowId } from '../reading/read-sums.ts';
import { today } from '../reading/usage-days.ts';
import { figuresOf } from '../report/read-spend.ts';

const YEAR_DAYS = 365;
const SHORT_PERIODS: readonly unknown[] = [undefined, 'minute', 'hour', 'once'];
const SHEET_OF: Readonly<Record<string, SheetKind>> = {
  ...{ instance: 'group', group: 'group', project: 'project' },
  'runner-class': 'class',
};

export const limitFiguresOf =
  ({ usage, sheets, zone, clock }: Pick<ReadContext, 'usage' | 'sheets' | 'zone' | 'clock'>) =>
  async (limits: LimitSet): Promise<ReadonlyMap<string, LimitFigures>> => {
    const nowMs = clock.nowMs();
    const day = today(zone, nowMs);
    const span = { from: day - YEAR_DAYS, to: day - 1 };
    const forecastable = [...limits.bySubject.values()]
      .flat()
      .filter(
        (limit) =>
          isForecastable(limit.kind) &&
          !SHORT_PERIODS.includes(limit.per) &&
          sheetOf(limit) &&
          isValidAt(limit, nowMs),
      );
    const used = new Map<string, Float64Array>();
    for (const { subject, kind } of forecastable) used.set(`${kind} ${subject}`, new Float64Array(YEAR_DAYS));
    for (const [kind, all] of Map.groupBy(forecastable, sheetOf)) {
      if (kind === undefined) continue;
      const subjects = [...new Set(all.map(({ subject }) => subject))];
      const rows = new Map(
        subjects.map((subject, place) => [kind === 'class' ? place : sheetRowId(subject), subject]),
      );
      const named = (name: string): number => subjects.indexOf(`runner-class/${name}`);
      const ask = { ...span, kind, rows, byDay: true, ...(kind === 'class' && { named }) };
      await readSums(ask, { usage, sheets, today: day }, (id, sum, at) => {
        for (const unit of KINDS) {
          const days = used.get(`${unit} ${rows.get(id)}`);
          if (days !== undefined) days[at - span.from] = (days[at - span.from] ?? 0) + usedIn(sum, unit);
        }
      });
    }
    return new Map(
      forecastable.map((limit) => [
        entryKey(limit.subject, limit.id),
        figures(limit, used.get(`${limit.kind} ${limit.subject}`) ?? new Float64Array(0), span.from, nowMs),
      ]),
    );
  };

const KINDS: readonly LimitKind[] = ['money', 'minutes', 'starts'];

const sheetOf = ({ subject }: Limit): SheetKind | undefined =>
  subject.includes('/each/') ? undefined : SHEET_OF[subject.split('/')[0] ?? ''];

function usedIn(sum: SheetSum, kind: LimitKind): number {
  const { micros, heldMicros, seconds, jobs, rejected, ranRejected, neverRan } = figuresOf(sum);
  const counts = { settledMicros: micros, heldMicros, seconds, admitted: jobs - rejected, ranRejected };
  return kindRow(kind).usedOn?.({ ...counts, released: neverRan }) ?? 0;
}

/** @param days - use by day, from `first` to yesterday */
function figures(limit: Limit, days: Float64Array, first: number, nowMs: number): LimitFigures {
  const sum = (from: number, next: number): number =>
    days.slice(Math.max(0, from - first), Math.max(0, next - first)).reduce((total, each) => total + each, 0);
  const dayOf = (ms: number): number => dayNumber(dayIn(limit.zone, ms));
  const periods: number[] = [];
  let period = limitPeriod(limit, dayStartMs(limit.zone, calendarDay(first)));
  for (; period !== undefined && period.endMs <= nowMs; period = limitPeriod(limit, period.endMs)) {
    const from = dayOf(period.startMs);
    const amount = sum(from, dayOf(period.endMs));
    // A group that began in June has no use of May to count.
    if (from >= first && (periods.length > 0 || amount > 0)) periods.push(amount);
  }
  const year = sum(first, first + days.length);
  // The last 365 days never contain a whole calendar year, so they are the year.
  if (limit.per === 'year' && year > 0) periods.splice(0, periods.length, year);
  if (periods.length === 0) return {};
  const daily = [...days].flatMap((amount, at): readonly DailyUsage[] =>
    amount > 0 ? [{ day: calendarDay(first + at), amount }] : [],
  );
  const history = historyBefore(daily, first + days.length);
  const next = limitPeriod(limit, period?.endMs ?? nowMs);
  const forecast =
    history === undefined || next === undefined
      ? 0
      : dailyRate(history) * (dayOf(next.endMs) - dayOf(next.startMs));
  return {
    last_year_mean: Math.round(periods.reduce((total, each) => total + each, 0) / periods.length),
    last_year_most: Math.round(Math.max(...periods)),
    ...(history !== undefined && { forecast: Math.round(forecast) }),
  };
}
