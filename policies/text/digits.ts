/** Thousands apart: `1,234,567`. Whole digits only, without sign and fraction. */
export const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');
