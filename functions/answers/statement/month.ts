/** Months of statements: whole days, without gaps or overlaps. */
import {
  type CalendarDay,
  calendarDay,
  DAY_MS,
  dayIn,
  dayNumber,
  dayStartMs,
  two,
} from '../../../policies/limits/calendar.ts';
import { type FiscalStart, monthsOf } from '../../../policies/limits/period.ts';
import { type PriceTable, pricesAt } from '../../../policies/price.ts';
import type { ClosedAdjustment, ClosedStatement } from '../../core/statements/statement-model.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import type { DaySpan } from '../reading/usage-days.ts';
import { type BilledSum, billedDays } from './billed.ts';

/** Its days are `dayNumber`s in the accounting zone, both included. */
export interface StatementMonth extends DaySpan {
  readonly key: string;
}

/** The ends of jobs and their webhooks need hours; five days leave room for an outage. */
const SETTLING_MS = 5 * DAY_MS;
/** Within every month of that name: fiscal months begin on the 28th at the latest. */
const DAY_INSIDE = 28;

export const monthSpanMs = ({ from, to }: DaySpan, zone: string) => ({
  startMs: dayStartMs(zone, calendarDay(from)),
  endMs: dayStartMs(zone, calendarDay(to + 1)),
});

export function daySpanMs(day: string, zone: string): ReturnType<typeof monthSpanMs> {
  const number = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  return monthSpanMs({ from: number, to: number }, zone);
}

export function monthOfDay(day: number, fiscalStart: FiscalStart): StatementMonth {
  const { first, next } = monthsOf('month', calendarDay(day), fiscalStart);
  return { key: keyOf(first), from: dayNumber(first), to: dayNumber(next) - 1 };
}

const keyOf = ({ year, month, day }: CalendarDay): string =>
  `${year}-${two(month)}${day === 1 ? '' : `@${two(day)}`}`;

/** Days are named, so a statement of another zone still lists its days. */
export const closedDays = ({
  startMs,
  endMs,
  zone,
  usageZone = zone,
}: Pick<ClosedStatement, 'startMs' | 'endMs' | 'zone' | 'usageZone'>): DaySpan => ({
  from: dayNumber(dayIn(usageZone, startMs)),
  to: dayNumber(dayIn(usageZone, endMs - 1)),
});

/** The month that begins on the day after the last statement ended. A changed fiscal year makes it shorter, never longer. */
export const monthAfter = (lastDay: number, fiscalStart: FiscalStart): StatementMonth => ({
  ...monthOfDay(lastDay + 1, fiscalStart),
  from: lastDay + 1,
});

export const isClosable = (month: StatementMonth, zone: string, nowMs: number): boolean =>
  monthSpanMs(month, zone).endMs + SETTLING_MS <= nowMs;

/**
 * Returns the days of the month of that name: as it was closed, else those that no statement has.
 * Returns undefined if it names no month. One that has not begun has its first day in the future.
 */
export function monthNamed(
  text: string,
  fiscalStart: FiscalStart,
  closed: readonly ClosedStatement[],
): StatementMonth | undefined {
  const known = closed.find(({ month }) => month === text);
  if (known !== undefined) return { key: text, ...closedDays(known) };
  const [, year, month] = /^(20\d{2})-(0[1-9]|1[0-2])(?:@\d\d)?$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const named = monthOfDay(
    dayNumber({ year: Number(year), month: Number(month), day: DAY_INSIDE }),
    fiscalStart,
  );
  const last = closed.at(-1);
  const from = Math.max(named.from, last === undefined ? named.from : closedDays(last).to + 1);
  // A month before the first statement, or one between, is asked for as the calendar has it.
  return from > named.to ? named : { ...named, from };
}

export interface DraftTerms extends Pick<ClosedStatement, 'instance' | 'currency' | 'zone'> {
  readonly prices: PriceTable;
  readonly fiscalStart: FiscalStart;
  readonly usage: Pick<RollupStore, 'readUsage'>;
}

interface DraftRequest extends Pick<ClosedStatement, 'subject' | 'group'> {
  readonly month: StatementMonth;
  /** The group's closed statements, by month: what came late about them is on this one. */
  readonly before: readonly ClosedStatement[];
  readonly nowMs: number;
}

/** Months in which late changes are found: daily usage is kept for two years. */
export const LOOKED_BACK_MONTHS = 12;
const LOOKED_BACK_DAYS = 366;

/** Returns undefined if the group has no statement yet and no jobs of its own to charge. */
export async function monthDraft(request: DraftRequest, terms: DraftTerms) {
  const { subject, group, month, before, nowMs } = request;
  const { zone, usage } = terms;
  const spans = spansOf(before, month.from - LOOKED_BACK_DAYS).slice(-LOOKED_BACK_MONTHS);
  const [now, ...earlier] = await Promise.all(
    [month, ...spans.map(({ days }) => days)].map((days) => billedDays(subject, days, usage)),
  );
  if (now === undefined) return undefined;
  const { days: lines, jobs, corrections, seconds, micros } = now.charged;
  if (before.length === 0 && !(now.isCharged && lines.length > 0)) return undefined;
  const adjustments = spans.flatMap(({ closed }, index) =>
    lateOf(closed, before, earlier[index]?.charged ?? closed.totals),
  );
  const adjustmentMicros = adjustments.reduce((sum, each) => sum + each.micros, 0);
  const span = monthSpanMs(month, zone);
  const draft: Omit<ClosedStatement, 'number' | 'previousSha256'> = {
    ...{ subject, group, month: month.key, zone, ...span, closedAtMs: nowMs },
    ...{ instance: terms.instance, currency: terms.currency },
    priceVersions: versionsIn(span, terms.prices),
    ...{ lines, adjustments },
    totals: {
      ...{ jobs, corrections, seconds, micros },
      ...{ adjustmentMicros, dueMicros: micros + adjustmentMicros },
    },
  };
  return draft;
}

/**
 * Gives each day to one statement. If two statements share days, the earlier one keeps them. Days before the first statement belong to
 * it: the first job of a group may be reported after the group's first month was closed.
 */
function spansOf(before: readonly ClosedStatement[], firstDay: number) {
  let next: number | undefined;
  return before.map((closed) => {
    const { from, to } = closedDays(closed);
    const days = { from: next ?? Math.min(from, firstDay), to };
    next = Math.max(days.from, to + 1);
    return { closed, days };
  });
}

type MonthSum = Omit<BilledSum, 'days'>;

/** Returns a closed month's changes since its statement and later adjustments. */
function lateOf(
  { month, number, totals }: ClosedStatement,
  chain: readonly ClosedStatement[],
  now: MonthSum,
): readonly ClosedAdjustment[] {
  const stated = chain.flatMap(({ adjustments }) => adjustments.filter((each) => each.month === month));
  const beyond = (part: keyof MonthSum): number =>
    stated.reduce((rest, each) => rest - each[part], now[part] - totals[part]);
  const late = {
    ...{ jobs: beyond('jobs'), corrections: beyond('corrections') },
    ...{ seconds: beyond('seconds'), micros: beyond('micros') },
  };
  const nothing = late.jobs === 0 && late.seconds === 0 && late.micros === 0;
  return nothing ? [] : [{ month, number, ...late }];
}

/** Lists the price lists in force in the span: the one at its start, and those that begin within it. */
const versionsIn = (
  { startMs, endMs }: ReturnType<typeof monthSpanMs>,
  prices: PriceTable,
): readonly string[] => [
  pricesAt(prices, startMs).version,
  ...(prices.later ?? []).flatMap(({ fromMs, version }) =>
    fromMs > startMs && fromMs < endMs ? [version] : [],
  ),
];
