import { ENV_DEPLOYMENT } from '../names.ts';
import { emfLine, isDeployment, type Metric } from './contract/emf-document.ts';
import type { LedgerClock } from './environment/environment.ts';

/** Writes metrics, as named in names.ts: each one costs money while it is written. */
export interface Metrics {
  /** Adds to a metric shown as a sum; notes one more value of any other. */
  add(metric: Metric, value: number): void;
  /** Writes what came since the last time as one line, if anything did. Once at the end of each invocation. */
  flush(): void;
}

export const noMetrics: Metrics = { add: () => {}, flush: () => {} };

interface EmfMetricsOptions {
  readonly deployment: string;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly write?: (line: string) => void;
}

/** Ten times the largest batch of a stream: the first ones stand for all. */
const KEPT_MAX = 100_000;

export function emfMetrics({ deployment, clock, write = writeLine }: EmfMetricsOptions): Metrics {
  let measured = new Map<Metric, number[]>();
  return {
    add: (metric, value) => {
      const values = measured.get(metric) ?? [];
      measured.set(metric, values);
      if (metric.statistic === 'Sum') values[0] = (values[0] ?? 0) + value;
      else if (values.length < KEPT_MAX) values.push(value);
    },
    flush: () => {
      const line = emfLine(deployment, clock.nowMs(), measured);
      measured = new Map();
      if (line !== undefined) write(line);
    },
  };
}

/** @param deployment - unset or empty: none are written @throws {Error} `[config_invalid]` if CloudWatch would not take it */
export function deployedMetrics(
  deployment: string | undefined,
  options: Omit<EmfMetricsOptions, 'deployment'>,
): Metrics {
  if (!deployment) return noMetrics;
  if (!isDeployment(deployment)) {
    throw new Error(
      `[config_invalid] ${ENV_DEPLOYMENT} is "${deployment}"; expected up to 200 of letters, digits and . _ / @ -, a letter or digit first`,
    );
  }
  return emfMetrics({ deployment, ...options });
}

/** Not by `console.log`: Lambda puts its own words around those lines, and CloudWatch wants the document alone. */
function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
