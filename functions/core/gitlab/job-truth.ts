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
