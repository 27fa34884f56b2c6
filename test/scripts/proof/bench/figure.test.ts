import { expect, test } from 'vitest';
import {
  type Figure,
  isFailedFigure,
  ratioOfRounds,
  reached,
  renderTable,
} from '../../../../scripts/proof/bench/figure.ts';

const aFigure = (more: Partial<Figure>): Figure => ({
  name: 'x ÷ y',
  value: 1,
  must: { atLeast: 0.5 },
  unit: '×',
  kind: 'ratio',
  ...more,
});

test.each([
  { more: { value: 0.5 }, ok: true, guarantee: 'exactly what was promised is enough' },
  { more: { value: 0.49 }, ok: false, guarantee: 'less is not' },
  { more: { value: 4, must: { atMost: 4 } }, ok: true, guarantee: 'a cost may be as high as promised' },
  { more: { value: 4.01, must: { atMost: 4 } }, ok: false, guarantee: 'and no higher' },
  { more: { value: Number.NaN }, ok: false, guarantee: 'what could not be measured is not reached' },
])('$guarantee', ({ more, ok }) => {
  expect(reached(aFigure(more))).toBe(ok);
});

test('noise is shown, and does not excuse a miss', () => {
  const noisy = aFigure({ value: 0.1, noisy: true });
  expect(isFailedFigure(noisy)).toBe(true);
  expect(renderTable([noisy])).toContain('MISSED (noisy)');
  expect(isFailedFigure(aFigure({ noisy: true }))).toBe(false);
});

test('rounds alternate which side goes first, and the median counts', async () => {
  const order: string[] = [];
  const side = (name: string, values: number[]) => async () => {
    order.push(name);
    return values.shift() ?? Number.NaN;
  };
  const result = await ratioOfRounds(3, side('a', [2, 9, 4]), side('b', [1, 3, 2]));
  expect(order.join('')).toBe('abbaab');
  expect(result).toEqual({ median: 2, range: [2, 3], noisy: false });
});

test('rounds that differ more than twofold are marked noisy', async () => {
  const values = [1, 3, 2];
  const result = await ratioOfRounds(
    3,
    async () => values.shift() ?? 0,
    async () => 1,
  );
  expect(result.noisy).toBe(true);
});

test.each([
  { outliers: 1, noisy: false, guarantee: 'one disturbed round of fifteen moves no median and is no noise' },
  { outliers: 2, noisy: true, guarantee: 'two on the same side are' },
])('$guarantee', async ({ outliers, noisy }) => {
  const values = [...Array(outliers).fill(5), ...Array(15 - outliers).fill(1)];
  const result = await ratioOfRounds(
    15,
    async () => values.shift() ?? 0,
    async () => 1,
  );
  expect(result).toMatchObject({ median: 1, noisy });
});
