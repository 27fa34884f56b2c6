import { readInstant } from './values.ts';

// Amounts as people write them: `9,50`, `1.234,50 €`, `EUR 12`, `+20%`. What could mean two things is asked about.

export type WrittenAmount =
  | { readonly ok: true; readonly text: string; readonly isMoney?: true }
  | { readonly ok: false; readonly message: string };

interface AmountRead {
  readonly currency: string;
  readonly decimal?: '.' | ',';
  readonly isMoney?: boolean;
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
const DIGITS = {
  '.': /^(\d+|[1-9]\d{0,2}([,'’_\s])\d{3}(?:\2\d{3})*)(?:\.(\d+))?$/u,
  ',': /^(\d+|[1-9]\d{0,2}([.'’_\s])\d{3}(?:\2\d{3})*)(?:,(\d+))?$/u,
};

/** Gives an amount as limits.yaml has it. What is no amount is given back, for the limit's own reading to refuse. */
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
  if (share !== null) return applyShare(text, share, was);
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

function applyShare(
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

/** `31.12.2026` → `2026-12-31`. Anything else is given back as it is, for the limit's own reading to refuse. */
export function readWrittenDay(written: string): WrittenAmount {
  const text = written.trim();
  const [, day = '', month = '', year] = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text) ?? [];
  if (year === undefined) return { ok: true, text };
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return readInstant(iso, 'start') === undefined
    ? refused(`'${text}' is no day of the calendar: write it like 2026-12-31`)
    : { ok: true, text: iso };
}
