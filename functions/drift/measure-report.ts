import { counterName } from '../../policies/claim.ts';
import type { BooksReport } from '../core/books/index.ts';
import type { Log } from '../core/environment/index.ts';
import type { Metrics } from '../core/metrics/index.ts';
import { METRIC_DRIFTED_COUNTERS } from '../names.ts';
import type { DriftReport } from './tell-drift.ts';

/** One recount as a metric, zero included. */
export function measureDriftReport({ drifting }: DriftReport, metrics: Metrics): void {
  metrics.add(METRIC_DRIFTED_COUNTERS, drifting);
  metrics.flush();
}

/** More lines of one check help nobody. */
const LINES_MAX = 20;

interface BooksTelling {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Nothing found is no value then: the alarm waits for the recount. */
  readonly isRecountLate: boolean;
}

/** What the second sums found, zero included: a day without it is a day without a check. */
export function measureBooksCheck(
  { compared, drifting, passedOver }: BooksReport,
  { metrics, log, isRecountLate }: BooksTelling,
): void {
  for (const key of drifting.slice(0, LINES_MAX))
    log.error('counter and records differ', { counter: counterName(key) });
  if (passedOver > 0) log.warn('counters not compared in time: the stream is late', { counters: passedOver });
  if (drifting.length > 0)
    log.error('drift: look with `tollgate rebuild`', { compared, drifting: drifting.length });
  else if (isRecountLate) return;
  metrics.add(METRIC_DRIFTED_COUNTERS, drifting.length);
  metrics.flush();
}
