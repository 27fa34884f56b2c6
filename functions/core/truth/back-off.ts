/** When to ask about a job again. A function of the job's age and of GitLab's answer: nothing has to be remembered. */
import type { GitLabErrorCode } from '../gitlab/gitlab.ts';

const MINUTE_MS = 60_000;

/** A job nobody ran yet is looked at again after a quarter of its age: a hold of a day costs a few dozen questions. */
const AGE_SHARE = 1 / 4;
const WAITING_MS_MIN = 5 * MINUTE_MS;
const WAITING_MS_MAX = 60 * MINUTE_MS;

export const waitingMs = (ageMs: number): number =>
  Math.round(Math.min(WAITING_MS_MAX, Math.max(WAITING_MS_MIN, ageMs * AGE_SHARE)));

/** What failed for one job may fail for it for ever; the others must not stand behind it. */
const ERROR_MS: Readonly<Record<GitLabErrorCode, number>> = {
  gitlab_unavailable: 2 * MINUTE_MS,
  gitlab_rate_limited: MINUTE_MS,
  gitlab_refused: 10 * MINUTE_MS,
  gitlab_unreadable: 30 * MINUTE_MS,
};

/** GitLab's own wish counts, but no hold may be put off for ever by it. */
const RETRY_AFTER_MS_MAX = 60 * MINUTE_MS;

export const errorMs = (code: GitLabErrorCode, retryAfterMs = 0): number =>
  Math.max(ERROR_MS[code], Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
