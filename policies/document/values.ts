import { NANOS_PER_BYTE, NANOS_PER_MILLICPU, parseQuantity, wholeUnits } from '../kubernetes/quantity.ts';
import { calendarDay, dayNumber, dayStartMs } from '../limits/calendar.ts';

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/**
 * Reads a day (`2026-12-31`) or an instant with its offset (`2026-12-31T18:00Z`, `…+01:00`) as Unix ms. A day is meant
 * whole: its first instant as a `start`, the first instant after it as an `end`, on the calendar of the zone. Undefined
 * for anything else, and for a day no calendar has.
 */
export function readInstant(text: string, edge: 'start' | 'end', zone = 'UTC'): number | undefined {
  const instantDay = INSTANT.exec(text)?.[1];
  const [, year, month, day] = (DAY.exec(instantDay ?? text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const number = dayNumber({ year, month, day });
  const real = calendarDay(number);
  if (real.month !== month || real.day !== day) return undefined;
  if (instantDay !== undefined) return Date.parse(text);
  return dayStartMs(zone, calendarDay(edge === 'start' ? number : number + 1));
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

const DURATION_SECONDS_MAX = 31 * 86_400;

export const DURATION_EXPECTED = `a duration such as 90s, 10m or 2h, at most ${DURATION_SECONDS_MAX / 86_400}d`;

/** `90s`, `10m`, `2h`, `1h 30m` → seconds; undefined for anything else, and for 0. */
export function readDurationSeconds(text: string): number | undefined {
  if (!/^\d{1,8}[smhd]( ?\d{1,8}[smhd]){0,3}$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    seconds += Number(count) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  return seconds > 0 && seconds <= DURATION_SECONDS_MAX ? seconds : undefined;
}

/** `500`, `500.25`: digits and at most one point. No sign, exponent, grouping or blank, which could hide a mistake. */
const DECIMAL = /^(\d{1,16})(?:\.(\d{1,20}))?$/;

export type Decimal =
  | { readonly ok: true; readonly amount: number }
  | { readonly ok: false; readonly expected: string };

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
export function decimalText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const text = String(value);
  return text.replace('.', '').length <= 15 ? text : undefined;
}

const refuse = (expected: string): { readonly ok: false; readonly expected: string } => ({
  ok: false,
  expected,
});

const NANOS_PER_UNIT = { cpu: NANOS_PER_MILLICPU, memory: NANOS_PER_BYTE } as const;

export const QUANTITIES_EXPECTED = {
  cpu: 'CPUs such as 64, 1.5 or 500m',
  memory: 'bytes such as 256Gi, 512Mi or 64G',
} as const;

export function readQuantityUnits(value: unknown, resource: 'cpu' | 'memory'): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const quantity = parseQuantity(String(value));
  const perUnit = NANOS_PER_UNIT[resource];
  const isWhole = quantity !== undefined && quantity.nanos % perUnit === 0n;
  return isWhole ? wholeUnits(quantity.nanos, perUnit) : undefined;
}
