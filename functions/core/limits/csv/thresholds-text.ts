/** Thresholds in one cell or field: `50 75 90`, `80 forecast 100`, `none`; empty: as limits of the kind have them. */

/** Said of a limit whose owner is told at no level. */
const NO_THRESHOLDS = 'none';

export const thresholdsText = (thresholds: readonly unknown[]): string =>
  thresholds.length === 0 ? NO_THRESHOLDS : thresholds.map(String).join(' ');

/** Undefined: nothing stands there. What is no number is told by the limit's own reading. */
export const readThresholdsText = (text: string): readonly (number | string)[] | undefined => {
  if (text === '') return undefined;
  if (text.toLowerCase() === NO_THRESHOLDS) return [];
  const words = text.match(/forecast\s+\d+|[^\s;,]+/gi) ?? [];
  return words.map((each) =>
    /^\d{1,6}$/.test(each) ? Number(each) : each.toLowerCase().replace(/\s+/, ' '),
  );
};
