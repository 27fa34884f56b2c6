import type { Log } from '../core/environment/environment.ts';
import type { GitLabErrorCode } from '../core/gitlab/gitlab.ts';
import type { Metrics } from '../core/metrics.ts';
import { tellAdmittedYetFailed } from '../core/truth/settle-truths.ts';
import * as names from '../names.ts';

export type SweepTally = ReturnType<typeof newTally>;

export type SweepReport = Readonly<SweepTally>;

export const newTally = () => ({
  /** Due holds found at the start, at most as many as one run takes. */
  due: 0,
  /** Age of the oldest due hold, or of the oldest unconfirmed end; 0 without any. */
  oldestDueAgeMs: 0,
  ...{ live: 0, verified: 0, settled: 0, released: 0, expired: 0, postponed: 0 },
  ...{ corrected: 0, unchanged: 0, undecided: 0, bypass: 0, calls: 0 },
  admittedYetFailed: [] as number[],
  /** Holds without a project's id, which no runner's list showed: GitLab cannot be asked about them. */
  unaskable: 0,
  /** Each counted about once. The share of `unadmitted` over many runs is the share of bypassed jobs. */
  ran: 0,
  /** Part of `ran`: without an admission, whether charged now or before. */
  unadmitted: 0,
  /** Ran or run on runners that GitLab does not ask us about: no part of `ran`, and charged nothing. */
  outOfScope: 0,
  /** Part of `ran`: rejected, but GitLab follows no answer while the controller is not enabled. No part of `unadmitted`. */
  ranRejected: 0,
  /** Periods that got their closing entry, and those that were due and have live jobs or a counter that drifts. */
  ...{ closedPeriods: 0, waitingPeriods: 0 },
  errors: {
    ...{ gitlab_unavailable: 0, gitlab_rate_limited: 0, gitlab_refused: 0, gitlab_unreadable: 0 },
  } satisfies Record<GitLabErrorCode, number>,
  gitlabError: undefined as string | undefined,
  /** GitLab does not answer or does not want to: nothing was freed for it, and the run ended early. */
  gitlabSilent: false,
  cutShort: false,
});

export function logSweepReport({ errors, admittedYetFailed, ...numbers }: SweepReport, log: Log): void {
  tellAdmittedYetFailed(admittedYetFailed, log);
  const fields = { ...numbers, admittedYetFailed: admittedYetFailed.length, ...errors };
  if (numbers.gitlabSilent) log.warn('sweep: GitLab does not answer, holds stay as they are', fields);
  else if (numbers.cutShort) log.warn('sweep: cut short, the next run goes on', fields);
  else log.info('sweep', fields);
}

/** One run as metrics, zeros included: minutes without any are minutes without a sweep. */
export function measureSweepReport(report: SweepReport, metrics: Metrics): void {
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
