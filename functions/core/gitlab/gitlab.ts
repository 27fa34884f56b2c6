/**
 * A job outcome from GitLab, by webhook or REST API, in our units. All fields except ids and status are
 * optional, because versions differ.
 */
export interface JobTruth {
  readonly jobId: number;
  readonly projectId: number;
  readonly status: JobStatus;
  /** Full path, `group/subgroup/project`. A label. */
  readonly projectPath?: string;
  readonly jobName?: string;
  readonly jobStage?: string;
  readonly pipelineId?: number;
  readonly userId?: number;
  readonly ref?: string;
  /** The runner that took it; absent before it was picked up. */
  readonly runnerId?: number;
  readonly runnerTags?: readonly string[];
  readonly environment?: string;
  readonly createdAtMs?: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  /** GitLab's duration, seconds. */
  readonly durationSeconds?: number;
  /** Number of earlier tries. Only webhooks of some versions have it. */
  readonly retryCount?: number;
  /** Seconds in the queue, until a runner took it or until now. */
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

/** It will not run any more. */
export const isTerminal = (status: JobStatus): status is 'success' | 'failed' | 'canceled' | 'skipped' =>
  status === 'success' || status === 'failed' || status === 'canceled' || status === 'skipped';

/** The reason a job has that the router did not let start: it never ran and is never charged. */
export const REJECTED_BY_ROUTER = 'job_router_failure';

/** One page of a list. An entry that cannot be read is left out and counted: one odd job must not hide the other 99. */
export type Page<Name extends string, Entry> = { readonly [Each in Name]: readonly Entry[] } & {
  /** Absent: none. */
  readonly unreadable?: number;
  /** Absent: this was the last page. */
  readonly next?: string;
};

/** The jobs that a runner took, or all jobs of a project: `GET /runners/:id/jobs` and `GET /projects/:id/jobs`. */
export type JobList = `runners/${number}` | `projects/${number}`;
export type JobsPage = Page<'jobs', JobTruth>;
export type RunnersPage = Page<'runnerIds', number>;

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

/** A group as GitLab lists it. */
export interface GitLabGroup {
  readonly id: number;
  readonly parentId?: number;
  /** Full path. */
  readonly path: string;
  readonly visibility?: string;
}

export interface GitLabProject {
  readonly id: number;
  /** The last part of its path, `checkout`. */
  readonly slug: string;
  readonly visibility?: string;
  /** Its namespace: a group, or a user's personal namespace. */
  readonly namespace: { readonly id: number; readonly path: string; readonly personal: boolean };
}

export const RUNNER_TYPES = ['instance_type', 'group_type', 'project_type'] as const;

type RunnerType = (typeof RUNNER_TYPES)[number];

/** A runner in a list. */
export interface ListedRunner {
  readonly id: number;
  readonly description: string;
  readonly type: RunnerType;
  /** It takes no new job. */
  readonly paused: boolean;
  /** `online`, `offline`, `stale`, `never_contacted`; older versions say `paused` instead of the first two. */
  readonly status: string;
}

/** One runner in full. Several processes may work under its token: its managers. */
export interface FleetRunner extends ListedRunner {
  readonly tags: readonly string[];
  /** It takes jobs without tags as well. */
  readonly runUntagged: boolean;
  readonly locked: boolean;
  readonly accessLevel: string;
  readonly maximumTimeoutSeconds?: number;
  /** The administrators' note; absent also if the token may not read it. */
  readonly maintenanceNote?: string;
  readonly contactedAtMs?: number;
  /**
   * Origin of its token. `user`: a user created it, with an authentication token. `token`: it was registered
   * with a registration token, or its creator is gone. Absent: this GitLab version does not return it.
   */
  readonly createdBy?: 'user' | 'token';
  /** The groups or projects it belongs to; the first is its owner. */
  readonly ownerIds: readonly number[];
}

/** A process of GitLab Runner that works under a runner's token. */
export interface RunnerManager {
  /** Made by the machine; `s_…` survives restarts, `r_…` does not. */
  readonly systemId: string;
  readonly version?: string;
  readonly platform?: string;
  readonly architecture?: string;
  /** GitLab writes it down every 40 to 55 minutes. */
  readonly contactedAtMs?: number;
  readonly status: string;
}

/** A runner to be made, with what the one it replaces has. */
export interface NewRunner
  extends Pick<
    FleetRunner,
    'description' | 'type' | 'tags' | 'runUntagged' | 'locked' | 'accessLevel' | 'maximumTimeoutSeconds'
  > {
  readonly maintenanceNote: string;
  /** The group or the project, unless it is the instance's. */
  readonly ownerId?: number;
}

export interface CreatedRunner {
  readonly id: number;
  /** Its authentication token: shown once, never to be printed. */
  readonly token: string;
}
