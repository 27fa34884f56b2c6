import type { AlarmSpec } from '../../../cdk/monitoring/alarms.ts';
import {
  SERIES,
  type Series,
  type SeriesName,
  type Statistic,
  seriesIn,
} from '../../../cdk/monitoring/series.ts';
import { ALL_ALARMS } from '../all-alarms.ts';

/** All values of a metric within a period. */
export type ValuesOf = (series: Series) => readonly number[];

/**
 * Whether an alarm is on after so many minutes, as CloudWatch would find.
 *
 * @param within - the values from one minute on and before another one.
 */
export function isOnAfter(
  spec: AlarmSpec,
  minutes: number,
  within: (from: number, to: number) => ValuesOf,
): boolean {
  let breaching = 0;
  for (let period = 0; period < spec.periods; period += 1) {
    const end = minutes - period * spec.periodMinutes;
    if (end < spec.periodMinutes) break;
    const value = resultOf(spec.formula, within(end - spec.periodMinutes, end));
    if (value === undefined ? spec.missing === 'breaching' : breaches(spec, value)) breaching += 1;
  }
  return breaching >= spec.breaching;
}

/** The alarms on the relays' own metrics whose threshold one minute with these values passes. */
export function breachesOn(minute: Readonly<Record<string, readonly number[]>>): readonly string[] {
  return ALL_ALARMS.filter((spec) => {
    const value = resultOf(spec.formula, ({ name }) => minute[name] ?? []);
    return value !== undefined && breaches(spec, value);
  }).map(({ name }) => name);
}

const breaches = ({ breach: [direction, threshold] }: AlarmSpec, value: number): boolean =>
  direction === 'above' ? value > threshold : value < threshold;

const FILLED = /\bFILL\((\w+), *(-?\d+)\)/g;

/** What a formula comes to over a period; undefined where one of its series has no value and nothing fills in for it. */
function resultOf(formula: string, valuesOf: ValuesOf): number | undefined {
  const names = seriesIn(formula);
  const values = new Map(names.map((name) => [name as string, statisticOf(name, valuesOf)]));
  const filled = formula.replaceAll(FILLED, (_, name, instead) => `(${values.get(name) ?? instead})`);
  if (seriesIn(filled).some((name) => values.get(name) === undefined)) return undefined;
  const either = (condition: boolean, then: number, otherwise: number): number =>
    condition ? then : otherwise;
  const most = (of: readonly number[]): number => Math.max(...of);
  return new Function('IF', 'MAX', ...names, `return ${filled};`)(either, most, ...values.values());
}

const STATISTICS: Readonly<Partial<Record<Statistic, (values: readonly number[]) => number>>> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Minimum: (values) => Math.min(...values),
  Maximum: (values) => Math.max(...values),
  SampleCount: (values) => values.length,
  // Only ever a few values: the highest.
  p99: (values) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? 0,
};

function statisticOf(series: SeriesName, valuesOf: ValuesOf): number | undefined {
  const values = valuesOf(SERIES[series]);
  if (values.length === 0) return undefined;
  const { statistic } = SERIES[series];
  const of = STATISTICS[statistic];
  if (of === undefined) throw new Error(`no way to find ${statistic}`);
  return of(values);
}
