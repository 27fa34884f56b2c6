import { expect, test } from 'vitest';
import { type Figure, isFailedFigure } from '../../../../scripts/proof/bench/figure.ts';
import { medianOfTries } from '../../../../scripts/proof/bench/median-of-tries.ts';

const aFigure = (value: number, more: Partial<Figure> = {}): Figure => ({
  name: 'x ÷ y',
  value,
  must: { atLeast: 0.5 },
  unit: '×',
  kind: 'ratio',
  range: [value, value],
  ...more,
});

async function measured(...tries: readonly Figure[]) {
  const left = [...tries];
  const [figure] = await medianOfTries(
    async () => [left.shift()].flatMap((each) => each ?? []),
    () => {},
  );
  return { figure, tries: tries.length - left.length };
}

test('what is reached is measured once', async () => {
  expect(await measured(aFigure(0.6), aFigure(0.1))).toMatchObject({ tries: 1, figure: { value: 0.6 } });
});

test.each([
  { values: [0.4, 0.6, 0.7], value: 0.6, guarantee: 'a miss between neighbours is outvoted' },
  { values: [0.4, 0.3, 0.9], value: 0.4, guarantee: 'one lucky last try saves nothing' },
  { values: [0.4, Number.NaN, 0.9], value: 0.4, guarantee: 'what cannot be measured counts as the worst' },
])('$guarantee', async ({ values, value }) => {
  const { figure, tries } = await measured(...values.map((each) => aFigure(each)));
  expect(tries).toBe(3);
  expect(figure?.value).toBe(value);
  expect(figure && isFailedFigure(figure)).toBe(value < 0.5);
});

test('a count that is missed is not measured again', async () => {
  const count = aFigure(0.1, { kind: 'count' });
  expect(await measured(count, aFigure(0.9))).toMatchObject({ tries: 1, figure: { value: 0.1 } });
});
