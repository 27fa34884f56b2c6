import { counterName } from '../../policies/claim.ts';
import type { BooksCheck } from '../core/books/index.ts';
import type { Log } from '../core/environment/index.ts';
import type { Metrics } from '../core/metrics/index.ts';
import { METRIC_DRIFTED_COUNTERS } from '../names.ts';
import type { DriftReport } from './tell-drift.ts';

/** One recount as a metric, zero included: a day without it is a night without a check. */
export function measureDriftReport({ drifting }: DriftReport, metrics: Metrics): void {
  metrics.add(METRIC_DRIFTED_COUNTERS, drifting);
  metrics.flush();
}

/** More lines of one check help nobody. */
const LINES_MAX = 20;

/** What the second sums found; nothing found is no value, because the night's recount is waited for. */
export function measureBooksCheck(
  { compared, drifting, passedOver }: BooksCheck,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): void {
  for (const key of drifting.slice(0, LINES_MAX))
    log.error('counter and records differ', { counter: counterName(key) });
  if (passedOver > 0) log.warn('counters not compared in time: the stream is late', { counters: passedOver });
  if (drifting.length === 0) return;
  log.error('drift: look with `tollgate rebuild`', { compared, drifting: drifting.length });
  metrics.add(METRIC_DRIFTED_COUNTERS, drifting.length);
  metrics.flush();
}
