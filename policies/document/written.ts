import { readInstant } from './values.ts';

// Amounts as people write them: `9,50`, `1.234,50 €`, `EUR 12`, `+20%`. What could mean two things is asked about.

export type WrittenAmount =
  /** `isMoney`: it was written with the currency. */
  | { readonly ok: true; readonly text: string; readonly isMoney?: true }
  | { readonly ok: false; readonly message: string };

interface AmountRead {
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
/** Digits, perhaps in groups of three, and decimals, by the sign before the decimals. */
const DIGITS = {
  '.': /^(\d+|[1-9]\d{0,2}([,'’_\s])\d{3}(?:\2\d{3})*)(?:\.(\d+))?$/u,
  ',': /^(\d+|[1-9]\d{0,2}([.'’_\s])\d{3}(?:\2\d{3})*)(?:,(\d+))?$/u,
};

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
  const after = MONEY_AFTER.exec(text);
  const before = after === null ? MONEY_BEFORE.exec(text) : null;
  const [number, unit] = [after?.[1] ?? before?.[2] ?? text, after?.[2] ?? before?.[1]];
  if (unit !== undefined && !isMoney)
    return refused(`'${text}' is money, and this limit counts something else`);
  if (unit !== undefined && unit.toUpperCase() !== currency && !SYMBOLS[unit]?.includes(currency))
    return refused(
      `'${text}' is in ${unit}, and all money here is in ${currency}: convert it, and write it in ${currency}`,
    );
  const share = SHARE.exec(number);
  if (share !== null) return shareOf(text, share, was);
  const [, sign = '', digits, suffix = ''] = NUMBER.exec(number) ?? [];
  if (digits === undefined) return { ok: true, text };
  const readings = (decimal === undefined ? (['.', ','] as const) : [decimal]).flatMap((each) => {
    const [, whole, , decimals] = DIGITS[each].exec(digits.trim()) ?? [];
    return whole === undefined
      ? []
      : [`${whole.replace(/\D/g, '')}${decimals === undefined ? '' : `.${decimals}`}`];
  });
  const [one, other] = [...new Set(readings)].sort((a, b) => a.indexOf('.') - b.indexOf('.'));
  if (one === undefined)
    return refused(`'${text}' is no number that can be read: write it like 1500.50, without grouping`);
  if (other === undefined)
    return { ok: true, text: `${sign}${one}${suffix}`, ...(unit !== undefined && { isMoney: true }) };
  const [whole, exact] = [`${one}${suffix}`, `${other.replace(/0{1,2}$/, '')}${suffix}`];
  return refused(`'${text}' may be ${whole} or ${exact}: write ${whole}, or ${exact}`);
}

const refused = (message: string): WrittenAmount => ({ ok: false, message });

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
  const decimals = `.${String(micros % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');
  return { ok: true, text: `${micros / 1_000_000n}${decimals}${suffix}` };
}

// Days as people write them: `31.12.2026`, `12/31/2026`. Where day and month could change places it is asked.

const YEAR_FIRST = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/;
const YEAR_LAST = /^(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})$/;
const SHORT_YEAR = /^\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2}$/;

/** `2026-12-31`; instants, and what is no day, are given back as they are, for the limit's own reading. */
export function readWrittenDay(written: string): WrittenAmount {
  const text = written.trim();
  if (SHORT_YEAR.test(text)) return refused(`'${text}' has a year of two digits: write it like 2026-12-31`);
  const first = YEAR_FIRST.exec(text);
  const last = YEAR_LAST.exec(text);
  if (first === null && last === null) return { ok: true, text };
  const days = first === null ? [] : [isoDay(first[1], first[2], first[3])];
  if (last !== null) days.push(isoDay(last[4], last[3], last[1]));
  // A day with dots puts the day first, wherever dots are written.
  if (last !== null && last[2] !== '.') days.push(isoDay(last[4], last[1], last[3]));
  const [day, other] = [...new Set(days.flat())];
  if (day === undefined) return refused(`'${text}' is no day of the calendar: write it like 2026-12-31`);
  if (other === undefined) return { ok: true, text: day };
  return refused(`'${text}' may be ${day} or ${other}: write ${day}, or ${other}`);
}

/** None: no calendar has it. */
function isoDay(year = '', month = '', day = ''): readonly string[] {
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return Number(month) >= 1 && readInstant(iso, 'start') !== undefined ? [iso] : [];
}
