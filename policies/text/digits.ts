/** Thousands apart: `1,234,567`. Whole digits only, without sign and fraction. */
export const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** A count that may have a fraction: `1,234.5`. */
export function countText(count: number): string {
  const [whole = '0', fraction] = String(Math.abs(count)).split('.');
  return `${count < 0 ? '-' : ''}${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`;
}
