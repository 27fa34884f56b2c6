const MICROS = 1_000_000n;

/** What becomes of fractions of a cent. Settled amounts have them, and nobody wants to read them. */
export type Rounding = 'exact' | 'nearest' | 'down' | 'up';

const CENT_MICROS = 10_000;

/**
 * Micro-units as a decimal, `4,210.00`: two places, and in `exact` as many more as it takes. Less than a cent is always
 * told exactly, because to some limits it makes the difference.
 */
export function moneyText(micros: number, rounding: Rounding = 'exact'): string {
  const told = rounded(micros, rounding);
  const absolute = BigInt(Math.abs(told));
  const whole = grouped(String(absolute / MICROS));
  const fraction = String(absolute % MICROS)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${told < 0 ? '-' : ''}${whole}.${fraction}`;
}

function rounded(micros: number, rounding: Rounding): number {
  if (rounding === 'exact' || Math.abs(micros) < CENT_MICROS) return micros;
  const cents = micros / CENT_MICROS;
  switch (rounding) {
    case 'nearest':
      return Math.round(cents) * CENT_MICROS;
    case 'down':
      return Math.floor(cents) * CENT_MICROS;
    case 'up':
      return Math.ceil(cents) * CENT_MICROS;
  }
}

/** Thousands apart: `1,234,567`. Whole digits only, without sign and fraction. */
const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** A count that may have a fraction: `1,234.5`. */
export function countText(count: number): string {
  const [whole = '0', fraction] = String(Math.abs(count)).split('.');
  return `${count < 0 ? '-' : ''}${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`;
}

const MINUTE_SECONDS = 60;

/**
 * Used time as GitLab shows it: `90 min`, `1,000 min`, `7.5 min`; below a minute `45 s`. Rounded up to a tenth, because
 * what is asked for must not look smaller than it is; `down` for what is left or allowed.
 */
export function durationText(seconds: number, rounding: 'up' | 'down' = 'up'): string {
  if (seconds !== 0 && Math.abs(seconds) < MINUTE_SECONDS) return `${seconds} s`;
  const minutes = (rounding === 'down' ? Math.floor(seconds / 6) : Math.ceil(seconds / 6)) / 10;
  return `${countText(minutes)} min`;
}

/** How far away something is, in the largest unit that fits: `in 8 days`, `in 1 hour`, `in 12 minutes`. */
export function relativeText(fromMs: number, toMs: number): string {
  const minutes = Math.max(0, Math.ceil((toMs - fromMs) / 60_000));
  if (minutes < 1) return 'now';
  if (minutes < 120) return `in ${counted(minutes, 'minute')}`;
  if (minutes < 48 * 60) return `in ${counted(Math.round(minutes / 60), 'hour')}`;
  return `in ${counted(Math.round(minutes / 1_440), 'day')}`;
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

const KIB_BYTES = 1_024;
const SCALES = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Memory as Kubernetes counts it, to the hundredth: `512 MiB`, `6 GiB`, `1.25 GiB`. Nobody writes a limit finer. */
export function bytesText(bytes: number, rounding: Rounding = 'exact'): string {
  if (Math.abs(bytes) < KIB_BYTES) return `${bytes} B`;
  let hundredths = 0;
  let name = '';
  let amount = bytes;
  // The first scale on which it has at most four digits, after rounding: 1,023.999 MiB rounded up are 1 GiB.
  for (const scale of SCALES) {
    amount /= KIB_BYTES;
    hundredths = roundedCount(amount * 100, rounding);
    name = scale;
    if (Math.abs(hundredths) < KIB_BYTES * 100) break;
  }
  return `${countText(hundredths / 100)} ${name}`;
}

function roundedCount(amount: number, rounding: Rounding): number {
  switch (rounding) {
    case 'exact':
    case 'nearest':
      return Math.round(amount);
    case 'down':
      return Math.floor(amount);
    case 'up':
      return Math.ceil(amount);
  }
}
