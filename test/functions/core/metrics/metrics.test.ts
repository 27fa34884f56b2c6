import { expect, test } from 'vitest';
import type { Metric } from '../../../../functions/core/contract/emf-document.ts';
import { deployedMetrics, emfMetrics, noMetrics } from '../../../../functions/core/metrics.ts';
import { emfProblems, measuredOf } from '../../../support/emf-spec.ts';

const COUNTED: Metric = { name: 'Counted', unit: 'Count', statistic: 'Sum' };
const SEEN: Metric = { name: 'Seen', unit: 'Seconds', statistic: 'p99' };

const clock = { nowMs: () => 1_795_255_200_000 };

function bench() {
  const lines: string[] = [];
  const metrics = emfMetrics({ deployment: 'production', clock, write: (line) => lines.push(line) });
  return { metrics, lines };
}

test('sums are added up however many parts they have, other values are kept one by one', () => {
  const { metrics, lines } = bench();
  for (let index = 0; index < 150; index += 1) metrics.add(COUNTED, 2);
  metrics.add(SEEN, 3);
  metrics.add(SEEN, 5);
  metrics.flush();
  expect(lines.map(emfProblems)).toEqual([[]]);
  expect(lines.map(measuredOf)).toEqual([
    { deployment: 'production', values: { Counted: [300], Seen: [3, 5] } },
  ]);
});

test.each([undefined, ''])('without a deployment (%j) nothing is written', (deployment) => {
  expect(deployedMetrics(deployment, { clock })).toBe(noMetrics);
});

test('a deployment CloudWatch would not take is refused by name and remedy', () => {
  expect(() => deployedMetrics('prod eu', { clock })).toThrow(
    /^\[config_invalid\] TOLLGATE_DEPLOYMENT is "prod eu"; expected up to 200 of letters/,
  );
});
