import { type CalendarDay, calendarDay, dayNumber, isoWeek, monthName, weekday } from './calendar.ts';
import { dayIn, dayStartMs } from './zone.ts';

export type PeriodKind = 'day' | 'week' | 'month';

export const PERIOD_KINDS: readonly PeriodKind[] = ['day', 'week', 'month'];

/** Half-open: the instant `endMs` belongs to the next one. */
export interface Period {
  /** `2026-11`, `2026-W47`, `2026-11-21`. */
  readonly key: string;
  /** For people: `November 2026`, `week 47 of 2026`, `21 November 2026`. */
  readonly label: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The period met last, per kind and zone: nearly every question falls into it again. */
const met: Record<PeriodKind, Map<string, Period>> = { day: new Map(), week: new Map(), month: new Map() };

/** The period an instant belongs to. Pure: what it remembers, it would compute again. Weeks begin on Monday. */
export function periodAt(kind: PeriodKind, zone: string, nowMs: number): Period {
  const last = met[kind].get(zone);
  if (last !== undefined && last.startMs <= nowMs && nowMs < last.endMs) return last;
  const period = computePeriod(kind, zone, nowMs);
  met[kind].set(zone, period);
  return period;
}

function computePeriod(kind: PeriodKind, zone: string, nowMs: number): Period {
  const today = dayIn(zone, nowMs);
  const { first, next } = bounds(kind, today);
  return { ...names(kind, first), startMs: dayStartMs(zone, first), endMs: dayStartMs(zone, next) };
}

function bounds(
  kind: PeriodKind,
  today: CalendarDay,
): { readonly first: CalendarDay; readonly next: CalendarDay } {
  const number = dayNumber(today);
  switch (kind) {
    case 'day':
      return { first: today, next: calendarDay(number + 1) };
    case 'week': {
      const monday = number - weekday(number);
      return { first: calendarDay(monday), next: calendarDay(monday + 7) };
    }
    case 'month': {
      const { year, month } = today;
      const next = month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
      return { first: { year, month, day: 1 }, next };
    }
  }
}

function names(kind: PeriodKind, first: CalendarDay): { readonly key: string; readonly label: string } {
  const month = `${first.year}-${two(first.month)}`;
  switch (kind) {
    case 'day':
      return {
        key: `${month}-${two(first.day)}`,
        label: `${first.day} ${monthName(first.month)} ${first.year}`,
      };
    case 'week': {
      const { year, week } = isoWeek(dayNumber(first));
      return { key: `${year}-W${two(week)}`, label: `week ${week} of ${year}` };
    }
    case 'month':
      return { key: month, label: `${monthName(first.month)} ${first.year}` };
  }
}

const two = (number: number): string => String(number).padStart(2, '0');
