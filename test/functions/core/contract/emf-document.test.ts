import { expect, test } from 'vitest';
import {
  emfLine,
  isDeployment,
  type Metric,
  VALUES_MAX,
} from '../../../../functions/core/contract/emf-document.ts';
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../../../functions/names.ts';
import { emfProblems, measuredOf } from '../../../support/emf-spec.ts';

const metric = (name: string): Metric => ({ name, unit: 'Count', statistic: 'Average' });
const A = metric('A');
const B = metric('B');

const AT_MS = 1_795_255_200_000;
const lineOf = (...measured: (readonly [Metric, readonly number[]])[]): string =>
  emfLine('production', AT_MS, new Map(measured)) ?? '';

test('a document is what the specification asks for, in one namespace under one dimension', () => {
  const line = lineOf([A, [1]], [B, [2.5, 0]]);
  expect(emfProblems(line)).toEqual([]);
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    _aws: {
      Timestamp: AT_MS,
      CloudWatchMetrics: [
        {
          Namespace: METRIC_NAMESPACE,
          Dimensions: [[METRIC_DIMENSION]],
          Metrics: [
            { Name: 'A', Unit: 'Count' },
            { Name: 'B', Unit: 'Count' },
          ],
        },
      ],
    },
    [METRIC_DIMENSION]: 'production',
    A: 1,
    B: [2.5, 0],
  });
});

test('what has no value is left out, and nothing at all makes no line', () => {
  expect(measuredOf(lineOf([A, []], [B, [1]])).values).toEqual({ B: [1] });
  expect(emfLine('production', AT_MS, new Map([[A, []]]))).toBeUndefined();
  expect(emfLine('production', AT_MS, new Map())).toBeUndefined();
});

test('what is no number takes nothing else with it', () => {
  const line = lineOf([A, [Number.NaN, 3, Number.POSITIVE_INFINITY]], [B, [Number.NaN]]);
  expect(emfProblems(line)).toEqual([]);
  expect(measuredOf(line).values).toEqual({ A: [3] });
});

test.each([VALUES_MAX + 1, 250, 10_000])(
  'of %i values a hundred stand for all, in their right shares',
  (count) => {
    const values = Array.from({ length: count }, (_, index) => (index * 7_919) % count);
    const line = lineOf([A, values]);
    expect(emfProblems(line)).toEqual([]);
    const kept = [...(measuredOf(line).values.A ?? [])];
    expect(kept).toHaveLength(VALUES_MAX);
    expect([Math.min(...kept), Math.max(...kept)]).toEqual([0, count - 1]);
    for (const share of [0.1, 0.5, 0.99]) {
      const shown = kept[Math.floor(share * (VALUES_MAX - 1))] ?? -1;
      expect(Math.abs(shown / (count - 1) - share)).toBeLessThan(0.02);
    }
  },
);

test.each([...['', ' ', ':a', 'a b', 'a\nb', 'ä', '-a'], 'a'.repeat(201)])(
  '%j names no deployment',
  (text) => {
    expect([isDeployment('prod/gitlab.example.com'), isDeployment(text)]).toEqual([true, false]);
  },
);
