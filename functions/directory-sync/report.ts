import type { DirectorySyncReport } from '../core/directory/index.ts';
import type { Log } from '../core/environment/index.ts';
import type { Metrics } from '../core/metrics/index.ts';
import { METRIC_DIRECTORY_AGE_SECONDS } from '../names.ts';

/** One line per run; problems that need action are separate errors, counted by an alarm. */
export function logDirectoryReport(report: DirectorySyncReport, log: Log): void {
  const { rootIds, ...told } = report;
  log.info('directory synced', { ...told, roots: rootIds.length });
  if (report.groupsListing === 'refused') {
    log.error('directory: GitLab lists far fewer groups than before; nothing is dropped', {
      groups: report.groups,
      groupsMissing: report.groupsMissing,
      remedy: 'does the token belong to an administrator? If they are gone: tollgate directory sync --force',
    });
  }
  if (report.projectsRefused > 0) {
    log.error('directory: GitLab lists far fewer projects than before; none is dropped', {
      projectsMissing: report.projectsRefused,
      remedy: 'does the token belong to an administrator? If they are gone: tollgate directory sync --force',
    });
  }
  if (report.failure !== undefined) {
    log.warn('directory: GitLab did not answer to the end', { failure: report.failure, calls: report.calls });
  }
}

/** One run as a metric. The one of two runs that counts says it; before a first listing there is nothing to say. */
export function measureDirectoryReport(
  { outcome, groupsListedAgeMs }: DirectorySyncReport,
  metrics: Metrics,
): void {
  if (outcome === 'stale' || groupsListedAgeMs === undefined) return;
  metrics.add(METRIC_DIRECTORY_AGE_SECONDS, groupsListedAgeMs / 1000);
  metrics.flush();
}
