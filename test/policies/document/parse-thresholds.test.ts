import { describe, expect, test } from 'vitest';
import { readLimitThresholds, readThresholds } from '../../../policies/document/parse-limit.ts';
import { problemText, Reading } from '../../../policies/document/reading.ts';

const reading = (thresholds: unknown) => Reading.of({ thresholds });

test.each([
  { written: [50, 75, 90, 100], read: [50, 75, 90, 100] },
  { written: [100, 50], read: [50, 100] },
  { written: [], read: [] },
])('$written is read as $read', ({ written, read }) => {
  const document = reading(written);
  expect(readThresholds(document.at('thresholds'))).toEqual(read);
  expect(document.problems).toEqual([]);
});

describe('what is refused names its place and the remedy', () => {
  test.each([
    [50, 'thresholds: 50; expected a list of percents such as [50, 75, 90, 100]'],
    [[50, 50], 'thresholds[1]: 50; expected a percent that is named once'],
    [[0], 'thresholds[0]: 0; expected a whole percent of the limit from 1 to 1000'],
    [['50%'], "thresholds[0]: '50%'; expected a whole percent of the limit from 1 to 1000"],
    [[12.5], 'thresholds[0]: 12.5; expected a whole percent of the limit from 1 to 1000'],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 'thresholds: has 11 entries; expected at most 10'],
  ])('%j', (written, problem) => {
    const document = reading(written);
    readThresholds(document.at('thresholds'));
    expect(document.problems.map(problemText)).toEqual([problem]);
  });

  test.each([
    ['jobs', undefined],
    ['starts', 'hour'],
  ] as const)('on %s per %s', (kind, per) => {
    const document = reading([50]);
    readLimitThresholds(document.at('thresholds'), kind, per);
    expect(document.problems.map(problemText)).toEqual([expect.stringContaining('per day or longer')]);
  });
});

test('percents of the forecast stand beside those of the use, in an order of their own', () => {
  const read = (written: unknown, per: string | undefined = 'month') => {
    const document = reading(written);
    const thresholds = readLimitThresholds(document.at('thresholds'), 'money', per);
    return document.problems.length > 0 ? document.problems.map(problemText) : thresholds;
  };
  expect(read([80, 'forecast 120', 'forecast 100'])).toEqual({
    thresholds: [80],
    forecastThresholds: [100, 120],
  });
  expect(read(['forecast 100'])).toEqual({ thresholds: [], forecastThresholds: [100] });
  expect(read([100, 'forecast 100'])).toEqual({ thresholds: [100], forecastThresholds: [100] });
  expect(read([50])).toEqual({ thresholds: [50] });
  for (const wrong of ['forecast', 'forecast 0', 'forecast 1001', 'forecast 12.5', 'pace 100'])
    expect(read([wrong])).toEqual([expect.stringContaining('expected a whole percent of the limit')]);
  expect(read(['forecast 90', 'forecast 90'])).toEqual([expect.stringContaining('named once')]);
  expect(read(['forecast 90'], 'once')).toEqual([expect.stringContaining('has no end to forecast')]);
});
