/** Thresholds in one cell or field: `50 75 90`, `80 forecast 100`, `none`; empty: as limits of the kind have them. */

/** Text for a limit without alerts. */
const NO_THRESHOLDS = 'none';

export const thresholdsText = (thresholds: readonly unknown[]): string =>
  thresholds.length === 0 ? NO_THRESHOLDS : thresholds.map(String).join(' ');

/** Returns undefined for an empty text. The limit's own check reports texts that are not numbers. */
export const readThresholdsText = (text: string): readonly (number | string)[] | undefined => {
  if (text === '') return undefined;
  if (text.toLowerCase() === NO_THRESHOLDS) return [];
  const words = text.match(/forecast\s+\d+|[^\s;,]+/gi) ?? [];
  return words.map((each) =>
    /^\d{1,6}$/.test(each) ? Number(each) : each.toLowerCase().replace(/\s+/, ' '),
  );
};
