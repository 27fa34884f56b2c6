/**
 * Writes a line in CloudWatch's embedded metric format: JSON that CloudWatch Logs turns into metrics,
 * without an API call. Pure; the relay uses it as well.
 *
 * @see
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../names.ts';

export interface Metric {
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  readonly statistic: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'p99';
}

/** The format's own bound on the values of one metric. */
export const VALUES_MAX = 100;

/**
 * Leaves out metrics without a value other than zero: CloudWatch bills each hour in which a metric is written.
 *
 * @returns undefined if none is left
 */
export function emfLine(
  deployment: string,
  atMs: number,
  measured: ReadonlyMap<Metric, readonly number[]>,
): string | undefined {
  const metrics: { readonly Name: string; readonly Unit: string }[] = [];
  const values: Record<string, number | readonly number[]> = {};
  for (const [{ name, unit }, all] of measured) {
    const [first = 0, ...others] = spread(all.filter(Number.isFinite));
    if (first === 0 && others.every((value) => value === 0)) continue;
    metrics.push({ Name: name, Unit: unit });
    values[name] = others.length === 0 ? first : [first, ...others];
  }
  if (metrics.length === 0) return undefined;
  const directive = { Namespace: METRIC_NAMESPACE, Dimensions: [[METRIC_DIMENSION]], Metrics: metrics };
  return JSON.stringify({
    _aws: { Timestamp: Math.floor(atMs), CloudWatchMetrics: [directive] },
    [METRIC_DIMENSION]: deployment,
    ...values,
  });
}

/** Values that stand for all: evenly spaced by rank, the smallest and the largest among them. */
function spread(values: readonly number[]): readonly number[] {
  if (values.length <= VALUES_MAX) return values;
  const sorted = [...values].sort((a, b) => a - b);
  const step = (sorted.length - 1) / (VALUES_MAX - 1);
  return Array.from({ length: VALUES_MAX }, (_, index) => sorted[Math.round(index * step)] ?? 0);
}

export const isDeployment = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._/@-]{0,199}$/.test(text);
