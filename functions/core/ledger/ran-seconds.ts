/** How long a job is taken to have run, and which of two ends counts. Pure. */

import { LedgerError } from '../store/index.ts';
import { GRACE_SECONDS } from './draft.ts';
import type { JobEnd, JobFacts, JobRecord } from './ledger.ts';

/** GitLab accepts no longer timeout than a month: longer no job has run, whatever a clock says. */
const LONGEST_JOB_SECONDS = 31 * 24 * 3_600;

type RanSeconds = Required<Pick<JobRecord, 'durationSeconds'>> & Pick<JobRecord, 'reportedSeconds'>;

/**
 * Whole seconds, rounded up. Only what cannot be is cut off: less than none, and more than the timeout GitLab enforces,
 * with its clean-up. A timeout that was only assumed enforces nothing. What was cut off is told in `reportedSeconds`.
 *
 * @throws {LedgerError} `ledger_misuse`: the duration is not a number.
 */
export function ranSeconds({ jobId, durationSeconds }: JobEnd, facts: JobFacts): RanSeconds {
  if (Number.isNaN(durationSeconds)) {
    throw new LedgerError(
      'ledger_misuse',
      `duration of job ${jobId} is NaN: expected seconds, parsed where they arrive`,
    );
  }
  const reportedSeconds = wholeSeconds(durationSeconds);
  const longestSeconds = isTimeoutAssumed(facts)
    ? LONGEST_JOB_SECONDS
    : Math.min(facts.timeoutSeconds + GRACE_SECONDS, LONGEST_JOB_SECONDS);
  const charged = Math.min(Math.max(0, reportedSeconds), longestSeconds);
  return { durationSeconds: charged, ...(charged !== reportedSeconds && { reportedSeconds }) };
}

/** The later of two ends counts, and the longer of two at the same time: so their order of arrival does not matter. */
export function outdoesEnd(
  end: JobEnd,
  { endedAtMs = 0, durationSeconds = 0, reportedSeconds = durationSeconds }: JobRecord,
): boolean {
  if (end.endedAtMs !== endedAtMs) return end.endedAtMs > endedAtMs;
  return wholeSeconds(end.durationSeconds) > reportedSeconds;
}

/** A record from before it was noted there says it with its question. */
const isTimeoutAssumed = ({ timeoutAssumed, asked }: JobFacts): boolean =>
  timeoutAssumed === true || asked?.filled?.includes('timeoutSeconds') === true;

/** Stays a number that the table takes, and no negative zero. */
const wholeSeconds = (seconds: number): number =>
  Math.min(Math.max(Math.ceil(seconds), -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) + 0;
