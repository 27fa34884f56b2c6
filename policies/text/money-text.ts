const MICROS = 1_000_000n;

/**
 * Micro-units as a decimal, `4,210.00`: two places, and as many more as it takes to tell the amount exactly. Nothing is
 * rounded, so that the numbers of one message add up.
 */
export function moneyText(micros: number): string {
  const absolute = BigInt(Math.abs(micros));
  const whole = grouped(String(absolute / MICROS));
  const fraction = String(absolute % MICROS)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${whole}.${fraction}`;
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');
