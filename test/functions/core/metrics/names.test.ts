import { expect, test } from 'vitest';
import * as functionNames from '../../../../functions/names.ts';
import * as relayNames from '../../../../relay/names.ts';

const { FUNCTION_METRICS } = functionNames;
const { RELAY_METRICS } = relayNames;
const METRICS = [...FUNCTION_METRICS, ...RELAY_METRICS];

/** Custom metrics cost $0.30 each a month and dimension set, for the hours in which they are written. */
const METRICS_MAX = 38;

test('metrics are no more than the deployment’s price allows for, each under a name of its own', () => {
  expect(METRICS.length).toBeLessThanOrEqual(METRICS_MAX);
  expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length);
});
