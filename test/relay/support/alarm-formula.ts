import { ALL_ALARMS } from '../../../cdk/monitoring/alarms/all-alarms.ts';
import { SERIES, seriesIn } from '../../../cdk/monitoring/series.ts';

/** The alarms on the relays' own metrics whose threshold one minute of them passes, by their own formulas. */
export function breachesOn(values: Readonly<Record<string, readonly number[]>>): readonly string[] {
  return ALL_ALARMS.filter(({ formula }) =>
    seriesIn(formula).every((name) => (values[SERIES[name].name]?.length ?? 0) > 0),
  )
    .filter(({ formula, breach: [direction, threshold] }) => {
      const value = formulaValue(formula, values);
      return direction === 'above' ? value > threshold : value < threshold;
    })
    .map(({ name }) => name);
}

function formulaValue(formula: string, values: Readonly<Record<string, readonly number[]>>): number {
  const names = seriesIn(formula);
  const numbers = names.map((name) => statistic(SERIES[name].statistic, values[SERIES[name].name] ?? []));
  const IF = (holds: boolean, then: number, otherwise: number): number => (holds ? then : otherwise);
  // CloudWatch's arithmetic is JavaScript's; the formulas are this repository's own.
  return new Function('IF', ...names, `return ${formula};`)(IF, ...numbers);
}

function statistic(name: string, values: readonly number[]): number {
  switch (name) {
    case 'Sum':
      return values.reduce((sum, value) => sum + value, 0);
    case 'Minimum':
      return Math.min(...values);
    case 'SampleCount':
      return values.length;
    case 'Average':
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    default:
      return Math.max(...values);
  }
}
