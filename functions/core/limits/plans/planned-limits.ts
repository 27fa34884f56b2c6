/** What a plan comes to on the limits as they are: which it can be about, and the document as it shall be. Pure. */
import { isRecord } from '../../../../policies/document/reading.ts';
import { calendarDay, dayNumber, dayOfIso, isoDay } from '../../../../policies/limits/calendar.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import { type LimitSet, limitPeriod, limitsOn } from '../../../../policies/limits/limits.ts';
import { isValidAt } from '../../../../policies/limits/period.ts';
import { dayStartMs } from '../../../../policies/limits/zone.ts';
import { isForecastable } from '../../../../policies/units/unit.ts';
import { placedEntries } from '../csv/export-limits.ts';
import { kindOf, type LimitEntry } from '../csv/read-cells.ts';
import type { ReadLimitSet } from '../desk/plan.ts';
import type { LimitsDocument } from '../limit-set.ts';
import type { PlannedAmount } from './limit-plan.ts';

/** One of the limits of a plan's day. */
interface LimitOfDay {
  readonly subject: string;
  /** Its id, without the day that adopting gave it. */
  readonly id: string;
  readonly entry: LimitEntry;
  readonly limit: Limit;
  /** As limits.yaml has it. */
  readonly written: string;
}

/**
 * Budgets of a day or longer of which a period begins on the day: of any other one a period would have two amounts. Those
 * of groups, projects, classes and people; defaults and caps are rules for many, and no budget of somebody.
 */
export function limitsOfDay({ document, limits }: ReadLimitSet, from: string): readonly LimitOfDay[] {
  return placedEntries(document).flatMap(({ list, subject, id, entry }): readonly LimitOfDay[] => {
    const limit = list === 'limits' ? limitsOn(limits, subject).find((each) => each.id === id) : undefined;
    const kind = kindOf(entry);
    if (limit === undefined || kind === undefined || !beginsOn(limit, from)) return [];
    return [{ subject, id: baseIdOf(id), entry, limit, written: String(entry[kind]) }];
  });
}

function beginsOn(limit: Limit, from: string): boolean {
  const { kind, per, zone } = limit;
  if (!isForecastable(kind) || per === undefined || per === 'minute' || per === 'hour' || per === 'once')
    return false;
  const startMs = dayStartMs(zone, dayOfIso(from));
  return isValidAt(limit, startMs) && limitPeriod(limit, startMs)?.startMs === startMs;
}

/** `money-month` of `money-month-2027-01-01`. */
const baseIdOf = (id: string): string => id.replace(DAY_AT_END, '');

const DAY_AT_END = /-\d{4}-\d{2}-\d{2}$/;

/** In force now: itself, or the one that it takes over from. */
export const limitToday = ({ subject, id, limit }: LimitOfDay, limits: LimitSet, nowMs: number) =>
  [limit, ...limitsOn(limits, subject).filter((each) => baseIdOf(each.id) === id)].find((each) =>
    isValidAt(each, nowMs),
  );

/**
 * The document with these amounts: a limit that is in force before the day ends with it, and one that is all like it but for
 * the amount begins; one that begins on the day is changed.
 */
export function plannedDocument(
  document: LimitsDocument,
  ofDay: readonly LimitOfDay[],
  amounts: readonly PlannedAmount[],
  from: string,
): LimitsDocument {
  const wanted = new Map(amounts.map(({ subject, limit, amount }) => [nameOf(subject, limit), amount]));
  const byEntry = new Map(ofDay.map((each) => [each.entry, each]));
  const until = isoDay(calendarDay(dayNumber(dayOfIso(from)) - 1));
  const { limits } = document;
  if (!Array.isArray(limits)) return document;
  const next = limits.flatMap((entry: unknown): readonly unknown[] => {
    const line = isRecord(entry) ? byEntry.get(entry) : undefined;
    const amount = line && wanted.get(nameOf(line.subject, line.id));
    const kind = line && kindOf(line.entry);
    if (
      line === undefined ||
      kind === undefined ||
      amount === undefined ||
      isSameAmount(amount, line.written)
    )
      return [entry];
    const then = { ...line.entry, [kind]: amount };
    if (line.limit.fromMs === dayStartMs(line.limit.zone, dayOfIso(from))) return [then];
    const id = `${line.id}-${from}`;
    return [
      { ...line.entry, until },
      { ...then, id, from },
    ];
  });
  return { ...document, limits: next };
}

/** Spreadsheets save 7.50 as 7.5. */
export const isSameAmount = (one: string, other: string | undefined): boolean =>
  other !== undefined && trimmed(one) === trimmed(other);

const trimmed = (text: string): string => (/^\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text);

/** Tells limits apart; no id has a break in it. */
export const nameOf = (subject: string, limit: string): string => `${limit}\n${subject}`;
