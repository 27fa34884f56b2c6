import { grouped } from './digits.ts';

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
