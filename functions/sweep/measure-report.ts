import type { Metrics } from '../core/metrics/metrics.ts';
import * as names from '../names.ts';
import type { SweepReport } from './report.ts';

/** One run as metrics, zeros included: minutes without any are minutes without a sweep. */
export function measureReport(report: SweepReport, metrics: Metrics): void {
  metrics.add(names.METRIC_LIVE_HOLDS, report.live);
  metrics.add(names.METRIC_OLDEST_DUE_AGE_SECONDS, report.oldestDueAgeMs / 1000);
  metrics.add(names.METRIC_GITLAB_SILENT, report.gitlabSilent ? 1 : 0);
  metrics.add(names.METRIC_HEALED_BY_SWEEP, report.settled + report.released + report.expired);
  metrics.add(names.METRIC_ADMITTED_YET_FAILED, report.admittedYetFailed.length);
  metrics.add(names.METRIC_BYPASS_JOBS, report.unadmitted);
  metrics.add(names.METRIC_OUT_OF_SCOPE_JOBS, report.outOfScope);
  metrics.add(names.METRIC_RAN_JOBS, report.ran);
  metrics.flush();
}
