/** Days as people write them: `31.12.2026`, `12/31/2026`. Where day and month could change places it is asked. */
import { readInstant } from '../instant.ts';
import type { WrittenAmount } from './written-amount.ts';

const DOTTED = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/;
const SLASHED = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$/;
const YEAR_FIRST = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/;
const SHORT_YEAR = /^\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2}$/;

/** `2026-12-31`; instants, and what is no day, are given back as they are, for the limit's own reading. */
export function readWrittenDay(written: string): WrittenAmount {
  const text = written.trim();
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) return dayOf(text, yearFirst[1], yearFirst[2], yearFirst[3]);
  // A day with dots puts the day first, wherever dots are written.
  const dotted = DOTTED.exec(text);
  if (dotted !== null) return dayOf(text, dotted[3], dotted[2], dotted[1]);
  if (SHORT_YEAR.test(text))
    return { ok: false, message: `'${text}' has a year of two digits: write it like 2026-12-31` };
  const slashed = SLASHED.exec(text);
  if (slashed === null) return { ok: true, text };
  const [, one, , other, year] = slashed;
  const [dayFirst, monthFirst] = [isoDay(year, other, one), isoDay(year, one, other)];
  if (dayFirst !== undefined && monthFirst !== undefined && dayFirst !== monthFirst)
    return {
      ok: false,
      message: `'${text}' may be ${dayFirst} or ${monthFirst}: write ${dayFirst}, or ${monthFirst}`,
    };
  return dayFirst === undefined ? dayOf(text, year, one, other) : { ok: true, text: dayFirst };
}

function dayOf(
  text: string,
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): WrittenAmount {
  const iso = isoDay(year, month, day);
  return iso === undefined
    ? { ok: false, message: `'${text}' is no day of the calendar: write it like 2026-12-31` }
    : { ok: true, text: iso };
}

function isoDay(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): string | undefined {
  const iso = `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`;
  return Number(month) >= 1 && readInstant(iso, 'start') !== undefined ? iso : undefined;
}
