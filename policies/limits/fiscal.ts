import { type CalendarDay, dayLabel, monthName, two } from './calendar.ts';

/** Kinds that begin at a day of the year, so that a fiscal start moves them. */
export const FISCAL_KINDS = ['month', 'quarter', 'year'] as const;

export type FiscalKind = (typeof FISCAL_KINDS)[number];

/** The first day of the fiscal year, `MM-DD`. Months and quarters are counted from it. */
export type FiscalStart = string;

export const CALENDAR_YEAR: FiscalStart = '01-01';

/** Every month has a 28th: fiscal months that began later would not all begin. */
const FISCAL_START = /^(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;

export const isFiscalStart = (text: string): boolean => FISCAL_START.test(text);

/** Whether periods of a kind differ from the calendar's: months that begin on the 1st are calendar months. */
export const isFiscal = (kind: FiscalKind, start: FiscalStart): boolean =>
  start !== CALENDAR_YEAR && !(kind === 'month' && start.endsWith('-01'));

/** The days a period begins and ends at, and what it is called. */
export interface Days {
  readonly first: CalendarDay;
  /** The first day of the next period. */
  readonly next: CalendarDay;
  readonly key: string;
  readonly label: string;
}

/** Months are counted from year 0; a fiscal month begins on the fiscal start's day. */
export function monthsOf(kind: FiscalKind, today: CalendarDay, fiscalStart: FiscalStart): Days {
  const [startMonth = 1, startDay = 1] = fiscalStart.split('-').map(Number);
  const begun = today.year * 12 + today.month - 1 - (today.day < startDay ? 1 : 0);
  const ofYear = (((begun - (startMonth - 1)) % 12) + 12) % 12;
  const length = MONTHS_IN[kind];
  const firstMonth = begun - (ofYear % length);
  const first = { year: Math.floor(firstMonth / 12), month: (firstMonth % 12) + 1, day: startDay };
  const nextMonth = firstMonth + length;
  const next = { year: Math.floor(nextMonth / 12), month: (nextMonth % 12) + 1, day: startDay };
  const year = Math.floor((begun - ofYear) / 12);
  const quarter = Math.floor(ofYear / 3) + 1;
  return { first, next, ...monthNames(kind, first, { year, quarter }, fiscalStart) };
}

const MONTHS_IN = { month: 1, quarter: 3, year: 12 } as const;

function monthNames(
  kind: FiscalKind,
  first: CalendarDay,
  { year, quarter }: { readonly year: number; readonly quarter: number },
  fiscalStart: FiscalStart,
): { readonly key: string; readonly label: string } {
  const fiscal = isFiscal(kind, fiscalStart);
  const at = fiscal ? `@${fiscalStart}` : '';
  const years = fiscal ? `${year}/${two((year + 1) % 100)}` : String(year);
  switch (kind) {
    case 'month': {
      const label = fiscal ? `the month from ${dayLabel(first)}` : `${monthName(first.month)} ${first.year}`;
      return { key: `${first.year}-${two(first.month)}${at}`, label };
    }
    case 'quarter':
      return { key: `${year}-Q${quarter}${at}`, label: `Q${quarter} ${years}` };
    case 'year':
      return { key: `${year}${at}`, label: fiscal ? `fiscal year ${years}` : years };
  }
}
