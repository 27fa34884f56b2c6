import type { Log } from '../environment/log.ts';

/** A line of a log holds these and stays readable; the metric counts all. */
const JOBS_SHOWN_MAX = 50;

/**
 * Jobs that were admitted and that the router failed with `job_router_failure`: our answer arrived as the other one, another
 * controller refused them, or no answer arrived in time. One line for all of them.
 */
export function tellAdmittedYetFailed(jobIds: readonly number[], log: Log): void {
  if (jobIds.length === 0) return;
  log.warn('admitted, yet failed by the job router', {
    jobs: jobIds.length,
    jobIds: jobIds.slice(0, JOBS_SHOWN_MAX).map(String),
  });
}
