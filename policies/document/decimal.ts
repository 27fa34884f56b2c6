/** `500`, `500.25`: digits and at most one point. No sign, exponent, grouping or blank, which could hide a mistake. */
const DECIMAL = /^(\d{1,16})(?:\.(\d{1,20}))?$/;

type Decimal =
  | { readonly ok: true; readonly amount: number }
  | { readonly ok: false; readonly expected: string };

/**
 * Reads a decimal exactly into whole `1/perWhole` units (1 000 000 for money in micro-units, 60 for minutes in
 * seconds). Digit by digit, never through a float: 0.1 + 0.2 is not a matter here.
 */
export function readDecimal(value: unknown, perWhole: number): Decimal {
  const text = decimalText(value);
  if (text === undefined) return refuse('a decimal number such as 500 or 500.25');
  const match = DECIMAL.exec(text);
  if (match === null) return refuse('a decimal number such as 500 or 500.25, not below 0');
  const [, whole = '0', fraction = ''] = match;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = (BigInt(whole) * scale + BigInt(fraction === '' ? '0' : fraction)) * BigInt(perWhole);
  if (scaled % scale !== 0n) return refuse(`at most the ${perWhole}th part of one: fewer decimals`);
  const amount = scaled / scale;
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) {
    return refuse(`at most ${BigInt(Number.MAX_SAFE_INTEGER) / BigInt(perWhole)}`);
  }
  return { ok: true, amount: Number(amount) };
}

/** A number is taken at its shortest decimal text, which is what was written as long as it has at most 15 digits. */
function decimalText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const text = String(value);
  return text.replace('.', '').length <= 15 ? text : undefined;
}

const refuse = (expected: string): { readonly ok: false; readonly expected: string } => ({
  ok: false,
  expected,
});
