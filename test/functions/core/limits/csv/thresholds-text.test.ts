import { expect, test } from 'vitest';
import { readThresholdsText, thresholdsText } from '../../../../../functions/core/limits/csv/read-cells.ts';

test.each([
  ['50 75 90', [50, 75, 90]],
  ['50;75, 90', [50, 75, 90]],
  ['80 forecast 100', [80, 'forecast 100']],
  ['Forecast  100 80 forecast 120', ['forecast 100', 80, 'forecast 120']],
  ['none', []],
  ['', undefined],
  ['often 50', ['often', 50]],
])('%j in a cell is %j', (text, thresholds) => {
  expect(readThresholdsText(text)).toEqual(thresholds);
});

test.each([[[50, 75]], [[80, 'forecast 100', 'forecast 120']], [[]]])(
  '%j comes back from its cell',
  (thresholds) => {
    expect(readThresholdsText(thresholdsText(thresholds))).toEqual(thresholds);
  },
);
