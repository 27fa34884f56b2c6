import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../functions/names.ts';
import { type MetricSubject, SERIES, type Series, type SeriesName, seriesIn } from './series.ts';

/** Turns formulas into metrics of one deployment. */
export interface DeploymentMetrics {
  /**
   * @param formula - see {@link SERIES} for its words.
   * @throws {Error} if it names something that is not deployed.
   */
  of(formula: string, options: { readonly periodMinutes: number; readonly label: string }): IMetric;
  /** Returns true if every series of the formula is deployed. */
  has(formula: string): boolean;
}

export interface MetricsOptions {
  /** The deployment's name in functions and relays. */
  readonly deployment: string;
  /** False: no formula has a metric of ours in it. */
  readonly ownMetrics: boolean;
  /** The dimensions by which AWS knows what is deployed. */
  readonly dimensions: Readonly<Partial<Record<MetricSubject, Readonly<Record<string, string>>>>>;
}

export function metricsOf({ deployment, ownMetrics, dimensions }: MetricsOptions): DeploymentMetrics {
  const dimensionsOf = (series: Series): Readonly<Record<string, string>> | undefined => {
    if (series.from === 'aws') return dimensions[series.of];
    return ownMetrics ? { [METRIC_DIMENSION]: deployment } : undefined;
  };

  function metric(word: SeriesName, periodMinutes: number, label?: string): Metric {
    const series: Series = SERIES[word];
    const dimensionsMap = dimensionsOf(series);
    if (dimensionsMap === undefined) throw new Error(`the series ${word} is about something not deployed`);
    return new Metric({
      namespace: series.from === 'aws' ? series.namespace : METRIC_NAMESPACE,
      metricName: series.name,
      dimensionsMap,
      statistic: series.statistic,
      period: Duration.minutes(periodMinutes),
      ...(label !== undefined && { label }),
    });
  }

  return {
    has: (formula) => seriesIn(formula).every((word) => dimensionsOf(SERIES[word]) !== undefined),
    of: (formula, { periodMinutes, label }) => {
      const words = seriesIn(formula);
      const [word] = words;
      // A plain metric needs no expression.
      if (word === formula) return metric(word, periodMinutes, label);
      return new MathExpression({
        expression: formula,
        usingMetrics: Object.fromEntries(words.map((each) => [each, metric(each, periodMinutes)])),
        period: Duration.minutes(periodMinutes),
        label,
      });
    },
  };
}
