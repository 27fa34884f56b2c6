import type { SyncReport } from '../core/directory/sync.ts';
import type { Metrics } from '../core/metrics/metrics.ts';
import { METRIC_DIRECTORY_AGE_SECONDS } from '../names.ts';

/** One run as a metric. The one of two runs that counts says it; before a first listing there is nothing to say. */
export function measureReport({ outcome, groupsListedAgeMs }: SyncReport, metrics: Metrics): void {
  if (outcome === 'stale' || groupsListedAgeMs === undefined) return;
  metrics.add(METRIC_DIRECTORY_AGE_SECONDS, groupsListedAgeMs / 1000);
  metrics.flush();
}
