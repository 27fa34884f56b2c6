import type { Log } from '../core/environment/log.ts';
import type { Metrics } from '../core/metrics/metrics.ts';
import { METRIC_LIMITS_UNREADABLE } from '../names.ts';
import type { SyncReport } from './sync.ts';

/** More lines of one run help nobody. */
const LINES_MAX = 20;
const PROBLEMS_MAX = 5;

/** What a run did. A refused parameter is told each time, until it is corrected or deleted: so its alarm stays on. */
export function logReport(report: SyncReport, log: Log): void {
  const { outcome, listed, complete, applied, refused, kept, left } = report;
  for (const { name, version, problems } of refused.slice(0, LINES_MAX))
    log.error('parameter refused, its last valid version stays', {
      parameter: name,
      version,
      problems: problems.slice(0, PROBLEMS_MAX),
    });
  for (const { name, limit, why } of kept.slice(0, LINES_MAX))
    log.warn('limit left as it is', { parameter: name, limit, why });
  const counts = { listed, complete, applied: applied.length, refused: refused.length, left };
  if (outcome === 'done') log.info('limits from parameters', counts);
  else if (listed > 0) log.error(NO_DIRECTORY, counts);
}

const NO_DIRECTORY =
  'no parameter is taken: the groups of GitLab were never listed, so no path can be compared';

/** Parameters whose last valid version had to stay. */
export function measureReport({ outcome, listed, refused }: SyncReport, metrics: Metrics): void {
  const stay = outcome === 'done' ? refused.length : listed;
  if (stay > 0) metrics.add(METRIC_LIMITS_UNREADABLE, stay);
  metrics.flush();
}
