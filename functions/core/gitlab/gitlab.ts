/** A job outcome from GitLab, by webhook or REST API. Fields are optional because versions differ. */
export interface GitLabJob {
  readonly jobId: number;
  readonly projectId: number;
  readonly status: JobStatus;
  readonly projectPath?: string;
  readonly jobName?: string;
  readonly jobStage?: string;
  readonly pipelineId?: number;
  readonly userId?: number;
  readonly ref?: string;
  readonly runnerId?: number;
  readonly runnerTags?: readonly string[];
  readonly environment?: string;
  readonly createdAtMs?: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly durationSeconds?: number;
  /** Number of earlier tries. Only webhooks of some versions have it. */
  readonly retryCount?: number;
  readonly queuedSeconds?: number;
  /** `job_router_failure` is a rejection; GitLab says `unknown_failure` also of jobs that did not fail. */
  readonly failureReason?: string;
}

export const JOB_STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

export const isTerminal = (status: JobStatus): status is 'success' | 'failed' | 'canceled' | 'skipped' =>
  status === 'success' || status === 'failed' || status === 'canceled' || status === 'skipped';

/** The reason a job has that the router did not let start: it never ran and is never charged. */
export const REJECTED_BY_ROUTER = 'job_router_failure';

/** One page of a list. An entry that cannot be read is left out and counted: one odd job must not hide the other 99. */
export type Page<Name extends string, Entry> = { readonly [Each in Name]: readonly Entry[] } & {
  readonly unreadable?: number;
  readonly next?: string;
};

export type JobList = `runners/${number}` | `projects/${number}`;
export type JobsPage = Page<'jobs', GitLabJob>;
export type RunnersPage = Page<'runnerIds', number>;

export type GitLabErrorCode =
  | 'gitlab_unavailable'
  | 'gitlab_rate_limited'
  | 'gitlab_refused'
  | 'gitlab_unreadable';

/** GitLab did not say what was asked. Names the call and the status, never a token or a body. */
export class GitLabError extends Error {
  override readonly name = 'GitLabError';
  readonly code: GitLabErrorCode;
  readonly says: string;
  readonly retryAfterMs: number | undefined;
  /** GitLab's own; undefined where it did not answer, or answered what cannot be read. */
  readonly status: number | undefined;

  constructor(
    code: GitLabErrorCode,
    message: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number; readonly status?: number },
  ) {
    super(`[${code}] ${message}`, options);
    this.code = code;
    this.says = message;
    this.retryAfterMs = options?.retryAfterMs;
    this.status = options?.status;
  }
}
