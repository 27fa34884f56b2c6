import type { Log } from '../core/environment/log.ts';
import { tellAdmittedYetFailed } from '../core/truth/tell-admitted-yet-failed.ts';
import type { SweepReport } from './report.ts';

/** One line per run; a warning when GitLab was silent or the run did not get through. Another for whom the router failed. */
export function logReport({ errors, admittedYetFailed, ...numbers }: SweepReport, log: Log): void {
  tellAdmittedYetFailed(admittedYetFailed, log);
  const fields = { ...numbers, admittedYetFailed: admittedYetFailed.length, ...errors };
  if (numbers.gitlabSilent) log.warn('sweep: GitLab does not answer, holds stay as they are', fields);
  else if (numbers.cutShort) log.warn('sweep: cut short, the next run goes on', fields);
  else log.info('sweep', fields);
}
