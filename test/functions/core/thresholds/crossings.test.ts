import { describe, expect, test } from 'vitest';
import { crossings } from '../../../../functions/core/thresholds/crossings.ts';
import { thresholdLevelsOf, type WatchedLimit } from '../../../../functions/core/thresholds/level.ts';
import { aCounter, aLimit, step } from './limits.ts';

const said = (transition: Parameters<typeof crossings>[0], limit: WatchedLimit = aLimit()) =>
  crossings(transition, limit).map(({ measure, level }) => `${measure} ${level.name}`);

describe('a level is reached exactly at its amount', () => {
  test.each([
    { guarantee: 'one micro below 50 % is not 50 %', from: 0, to: 249_999_999, told: [] },
    { guarantee: 'exactly 50 % is', from: 0, to: 250_000_000, told: ['spent 50 %', 'committed 50 %'] },
    {
      guarantee: 'the last micro before it counts',
      from: 249_999_999,
      to: 250_000_000,
      told: ['spent 50 %', 'committed 50 %'],
    },
    { guarantee: 'on from 50 % it was there before', from: 250_000_000, to: 374_999_999, told: [] },
    {
      guarantee: 'exactly 100 % is 100 %',
      from: 499_999_999,
      to: 500_000_000,
      told: ['spent 100 %', 'committed 100 %'],
    },
    { guarantee: 'beyond 100 % nothing is left to tell', from: 500_000_000, to: 900_000_000, told: [] },
    {
      guarantee: 'a jump tells the highest level only',
      from: 0,
      to: 460_000_000,
      told: ['spent 90 %', 'committed 90 %'],
    },
    { guarantee: 'going down tells nothing', from: 460_000_000, to: 0, told: [] },
  ])('$guarantee', ({ from, to, told }) => {
    expect(said(step([from, from], [to, to]))).toEqual(told);
  });

  test('half a unit is rounded up: 2 of 3 starts are not yet 75 %', () => {
    const limit = aLimit({ kind: 'starts', unit: 'starts', amount: 3, thresholds: [75] });
    expect(said(step([0, 0], [0, 2]), limit)).toEqual([]);
    expect(said(step([0, 2], [0, 3]), limit)).toEqual(['committed 75 %']);
  });

  test('amounts near 2^53 are exact', () => {
    const amount = Number.MAX_SAFE_INTEGER;
    const limit = aLimit({ amount, thresholds: [50] });
    expect(said(step([0, 0], [0, 2 ** 52 - 1]), limit)).toEqual([]);
    expect(said(step([0, 0], [0, 2 ** 52]), limit)).toEqual(['committed 50 %']);
  });
});

test('spent and committed are told apart', () => {
  expect(said(step([0, 240_000_000], [0, 260_000_000]))).toEqual(['committed 50 %']);
  expect(said(step([0, 260_000_000], [260_000_000, 260_000_000]))).toEqual(['spent 50 %']);
});

test('the first write of a counter starts from nothing', () => {
  expect(said({ after: aCounter(0, 250_000_000) })).toEqual(['committed 50 %']);
});

test('a jump carries every level below, lowest first, also those it did not cross itself', () => {
  const [crossing] = crossings(step([0, 300_000_000], [0, 500_000_000]), aLimit());
  expect(crossing?.passed.map(({ name }) => name)).toEqual(['50 %', '75 %', '90 %', '100 %']);
});

describe('the soft part is a level with a name of its own', () => {
  test.each([
    { soft: 400_000_000, at: 399_999_999, told: 'committed 75 %' },
    { soft: 400_000_000, at: 400_000_000, told: 'committed soft' },
    { soft: 375_000_000, at: 375_000_000, told: 'committed soft' },
    { soft: 400_000_000, at: 450_000_000, told: 'committed 90 %' },
  ])('soft $soft at $at: $told', ({ soft, at, told }) => {
    expect(said(step([0, 0], [0, at]), aLimit({ softAmount: soft }))).toEqual([told]);
  });

  test('a limit that only warns has none: it tells that by itself', () => {
    const names = thresholdLevelsOf(aLimit({ softAmount: 1, mode: 'warn' })).map(({ name }) => name);
    expect(names).toEqual(['50 %', '75 %', '90 %', '100 %']);
  });
});

describe('which limits have levels', () => {
  const none: readonly (readonly [string, Partial<WatchedLimit>])[] = [
    ['a limit that is off', { mode: 'off' }],
    ['a limit in shadow', { mode: 'shadow' }],
    ['a limit of 0', { amount: 0 }],
    ['an unlimited one', { amount: 'unlimited' }],
    ['a budget per hour', { per: 'hour' }],
    ['starts without thresholds', { kind: 'starts', unit: 'starts' }],
    ['a limit whose thresholds are empty', { thresholds: [] }],
  ];
  test.each(none)('%s has none', (_, over) => {
    expect(thresholdLevelsOf(aLimit(over))).toEqual([]);
  });

  test('what is counted at once has none, not even its soft part', () => {
    const { per: _per, ...rest } = aLimit({ kind: 'jobs', unit: 'jobs', amount: 10, softAmount: 8 });
    expect(thresholdLevelsOf(rest)).toEqual([]);
  });

  test('thresholds of the limit win over the default', () => {
    expect(thresholdLevelsOf(aLimit({ amount: 200, thresholds: [110, 80] }))).toEqual([
      { name: '80 %', amount: 160 },
      { name: '110 %', amount: 220 },
    ]);
  });
});
