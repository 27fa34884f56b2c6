import { expect, test } from 'vitest';
import * as functionNames from '../../../../functions/names.ts';
import * as relayNames from '../../../../relay/names.ts';

const { FUNCTION_METRICS } = functionNames;
const { RELAY_METRICS, RELAY_WAITING_METRICS } = relayNames;
const METRICS = [...FUNCTION_METRICS, ...RELAY_METRICS];

/** Custom metrics cost $0.30 each a month and dimension set; the idle price of the default shape has room for these. */
const METRICS_MAX = 36;
/** Two more are written only while jobs wait for room. */
const WAITING_MAX = 2;

test('metrics are no more than the deployment’s price allows for, each under a name of its own', () => {
  expect(RELAY_WAITING_METRICS.length).toBeLessThanOrEqual(WAITING_MAX);
  expect(METRICS.length - RELAY_WAITING_METRICS.length).toBeLessThanOrEqual(METRICS_MAX);
  expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length);
});

test('every metric in the names of the functions is in their list', () => {
  const metrics = Object.values<unknown>(functionNames).filter(
    (value) => typeof value === 'object' && value !== null && 'statistic' in value,
  );
  expect(new Set(metrics)).toEqual(new Set<unknown>(FUNCTION_METRICS));
});
