import type { JobTruth } from './job-truth.ts';

/** What Tollgate asks of GitLab's REST API: only reading, each call with a timeout of its own. */
export interface GitLab {
  /**
   * `GET /projects/:id/jobs/:job_id`. `undefined`: GitLab knows no such job (404).
   * @throws {GitLabError}
   */
  job(projectId: number, jobId: number): Promise<JobTruth | undefined>;
  /**
   * `GET /runners/:id/jobs`, newest first by id: finds also jobs that nobody asked us about. Needs an administrator's token.
   * @param page - as `next` of the page before; absent: the first.
   * @throws {GitLabError}
   */
  jobsOfRunner(
    runnerId: number,
    options: { readonly status?: 'running'; readonly page?: string },
  ): Promise<JobsPage>;
  /**
   * `GET /runners/all`: ids of the instance's runners.
   * @throws {GitLabError}
   */
  runners(options: { readonly page?: string }): Promise<RunnersPage>;
}

export interface JobsPage {
  readonly jobs: readonly JobTruth[];
  /** Entries that could not be read and are left out; absent: none. */
  readonly unreadable?: number;
  /** Absent: this was the last page. */
  readonly next?: string;
}

export interface RunnersPage {
  readonly runnerIds: readonly number[];
  /** Entries that could not be read and are left out; absent: none. */
  readonly unreadable?: number;
  readonly next?: string;
}

export type GitLabErrorCode =
  /** No answer in time, or a 5xx. */
  | 'gitlab_unavailable'
  /** 429: see `retryAfterMs`. */
  | 'gitlab_rate_limited'
  /** 401 or 403: the token, or what it may do. */
  | 'gitlab_refused'
  /** An answer that is not what GitLab documents. */
  | 'gitlab_unreadable';

/** GitLab did not say what was asked. Names the call and the status, never a token or a body. */
export class GitLabError extends Error {
  override readonly name = 'GitLabError';
  readonly code: GitLabErrorCode;
  /** The message without the code. */
  readonly says: string;
  readonly retryAfterMs: number | undefined;
  /** GitLab's own; undefined where it did not answer, or answered what cannot be read. */
  readonly status: number | undefined;

  /** @param message - what was tried, where, the cause and the remedy. */
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
