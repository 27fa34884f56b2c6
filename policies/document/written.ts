import { readInstant } from './values.ts';

// Amounts as people write them: `9,50`, `1.234,50 €`, `EUR 12`, `+20%`. What could mean two things is asked about.

export type WrittenAmount =
  | {
      readonly ok: true;
      readonly text: string /** It was written with the currency. */;
      readonly isMoney?: true;
    }
  /** Explains the error to the author of the text. */
  | { readonly ok: false; readonly message: string };

interface AmountRead {
  /** ISO 4217 code of the deployment. */
  readonly currency: string;
  /** The decimal separator that the author declared. Absent: not declared. */
  readonly decimal?: '.' | ',';
  /** It is money that is counted. @default true */
  readonly isMoney?: boolean;
  /** The amount as it is, in the texts of limits.yaml: what `+20%` is of. */
  readonly was?: string | undefined;
}

const SYMBOLS: Readonly<Record<string, readonly string[]>> = {
  '€': ['EUR'],
  '£': ['GBP'],
  $: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN'],
  '¥': ['JPY', 'CNY'],
  '₹': ['INR'],
};

const MONEY_AFTER = /^(.*?\d)\s*([A-Za-z]{3}|[€£$¥₹])$/u;
const MONEY_BEFORE = /^([A-Za-z]{3}|[€£$¥₹])\s*([-+]?\d.*)$/u;
const SHARE = /^([-+])(\d{1,4})(?:[.,](\d{1,3}))?\s*%$/;
const NUMBER = /^([-+]?)(\d[\d.,'’_\s]*?)(%|[A-Za-z]{0,2})$/u;

/**
 * One amount as limits.yaml has it: `9.50`, `unlimited`, `256Gi`, `80%`. What is no amount at all is given back as it is,
 * for the limit's own reading to refuse.
 */
export function readWrittenAmount(
  written: string,
  { currency, decimal, isMoney = true, was }: AmountRead,
): WrittenAmount {
  const text = written.trim();
  if (text.toLowerCase() === 'unlimited') return { ok: true, text: 'unlimited' };
  const [, number = text, unit] = MONEY_AFTER.exec(text) ?? swapped(MONEY_BEFORE.exec(text)) ?? [];
  if (unit !== undefined && !isMoney)
    return refused(`'${text}' is money, and this limit counts something else`);
  if (unit !== undefined && !isCurrency(unit, currency))
    return refused(
      `'${text}' is in ${unit}, and all money here is in ${currency}: convert it, and write it in ${currency}`,
    );
  const share = SHARE.exec(number);
  const named = unit !== undefined && ({ isMoney: true } as const);
  if (share !== null) return shareOf(text, share, was);
  const [, sign = '', digits, suffix = ''] = NUMBER.exec(number) ?? [];
  if (digits === undefined) return { ok: true, text };
  const plain = plainNumber(digits, decimal);
  if (plain === undefined)
    return refused(`'${text}' is no number that can be read: write it like 1500.50, without grouping`);
  if (typeof plain === 'string') return { ok: true, text: `${sign}${plain}${suffix}`, ...named };
  const [one, other] = plain;
  return refused(
    `'${text}' may be ${one}${suffix} or ${other}${suffix}: write ${one}${suffix}, or ${other}${suffix}`,
  );
}

const swapped = (match: RegExpExecArray | null): readonly (string | undefined)[] | undefined =>
  match === null ? undefined : [match[0], match[2], match[1]];

const isCurrency = (unit: string, currency: string): boolean =>
  unit.toUpperCase() === currency.toUpperCase() || SYMBOLS[unit]?.includes(currency.toUpperCase()) === true;

const refused = (message: string): WrittenAmount => ({ ok: false, message });

/** A point for the decimals and nothing else; two readings where both are meant by some; undefined: it is none. */
function plainNumber(
  digits: string,
  decimal: '.' | ',' | undefined,
): string | readonly [string, string] | undefined {
  const text = withoutGaps(digits);
  if (text === undefined) return undefined;
  const [points, commas] = [count(text, '.'), count(text, ',')];
  if (points + commas === 0) return text;
  if (points > 0 && commas > 0) {
    const sign = text.lastIndexOf('.') > text.lastIndexOf(',') ? '.' : ',';
    return decimal !== undefined && decimal !== sign ? undefined : decimalsAfter(text, sign);
  }
  const sign = points > 0 ? '.' : ',';
  if (points + commas > 1) return decimal === sign ? undefined : grouped(text, sign);
  const [whole = '', rest = ''] = text.split(sign);
  if (rest === '') return undefined;
  const mayGroup = rest.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  if (decimal === sign || !mayGroup)
    return decimal !== undefined && decimal !== sign ? undefined : `${whole}.${rest}`;
  if (decimal !== undefined) return `${whole}${rest}`;
  return [`${whole}${rest}`, `${whole}.${rest.replace(/0{1,2}$/, '')}`];
}

const count = (text: string, sign: string): number => text.split(sign).length - 1;

/** `1 234`, `1'234`: gaps group by three. */
function withoutGaps(digits: string): string | undefined {
  const text = digits.trim();
  if (!/['’_\s]/u.test(text)) return text;
  const [whole = '', ...rest] = text.split(/(?=[.,])/);
  const parts = whole.split(/['’_\s]/u);
  const fits = parts.every((part, index) => (index === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(part));
  return fits && !/['’_\s]/u.test(rest.join('')) ? parts.join('') + rest.join('') : undefined;
}

function grouped(text: string, sign: string): string | undefined {
  const parts = text.split(sign);
  const fits = parts.every((part, index) => (index === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(part));
  return fits ? parts.join('') : undefined;
}

function decimalsAfter(text: string, sign: '.' | ','): string | undefined {
  const [whole = '', rest = '', ...more] = text.split(sign);
  const other = sign === '.' ? ',' : '.';
  const joined = more.length > 0 || rest === '' ? undefined : grouped(whole, other);
  return joined === undefined ? undefined : `${joined}.${rest}`;
}

/** A share more or less than what there is, to the millionth, rounded down. */
function shareOf(
  text: string,
  [, sign, whole = '', rest = '']: RegExpExecArray,
  was: string | undefined,
): WrittenAmount {
  const [, amount, fraction = '', suffix = ''] =
    /^(\d{1,15})(?:\.(\d{1,6}))?([A-Za-z]*)$/.exec(was ?? '') ?? [];
  if (amount === undefined)
    return refused(`'${text}' is a share of an amount, and there is none here yet: write the amount itself`);
  const thousandths = BigInt(whole + rest.padEnd(3, '0'));
  const hundred = 100_000n;
  const parts = sign === '+' ? hundred + thousandths : hundred - thousandths;
  if (parts < 0n) return refused(`'${text}' would be less than nothing`);
  const micros = (BigInt(amount + fraction.padEnd(6, '0')) * parts) / hundred;
  const tail = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return { ok: true, text: `${micros / 1_000_000n}${tail === '' ? '' : `.${tail}`}${suffix}` };
}

// Days as people write them: `31.12.2026`, `12/31/2026`. Where day and month could change places it is asked.

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
