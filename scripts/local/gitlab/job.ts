import type { JobStatus } from '../../../functions/core/gitlab/index.ts';

/** A runner of the instance, as jobs and lists tell of it. */
export interface LocalRunner {
  readonly id: number;
  readonly description?: string;
  /** @default 'instance_type' */
  readonly type?: 'instance_type' | 'group_type' | 'project_type';
  readonly tags?: readonly string[];
  /** @default false */
  readonly paused?: boolean;
  /** @default 'online' */
  readonly status?: 'online' | 'offline' | 'stale' | 'never_contacted';
  /** @default false, but for a runner without tags */
  readonly runUntagged?: boolean;
  readonly maximumTimeoutSeconds?: number;
  readonly maintenanceNote?: string;
  /** Whose token it was created with; null: a registration token. @default null */
  readonly createdBy?: number | null;
  /** The group or project it belongs to. */
  readonly ownerId?: number;
  /** What it asks for jobs with. @default none: it never asks */
  readonly token?: string;
  /** Processes under its token. @default none */
  readonly managers?: readonly LocalManager[];
}

/** A process of GitLab Runner. */
export interface LocalManager {
  readonly systemId: string;
  readonly version: string;
  /** @default 'linux' */
  readonly platform?: string;
  /** @default 'amd64' */
  readonly architecture?: string;
  /** @default 'online' */
  readonly status?: string;
  readonly contactedAtMs?: number;
}

/** What is known of a job when it is made. */
export interface NewJob {
  readonly id: number;
  readonly projectId: number;
  /** `group/subgroup/project`. */
  readonly projectPath: string;
  readonly name: string;
  /** @default 'test' */
  readonly stage?: string;
  /** @default the job's id */
  readonly pipelineId?: number;
  /** @default 1 */
  readonly userId?: number;
  /** @default 'main' */
  readonly ref?: string;
  readonly environment?: string;
  /** What the job itself asks for. */
  readonly tags?: readonly string[];
  /** How many runs of it were before. @default 0 */
  readonly retryCount?: number;
  /** What a runner would do. @default nothing */
  readonly script?: readonly string[];
}

export interface LocalJob extends NewJob {
  status: JobStatus;
  readonly createdAtMs: number;
  queuedAtMs?: number;
  startedAtMs?: number;
  finishedAtMs?: number;
  /** Set when a runner took it. */
  runner?: LocalRunner;
  /** Set when it failed. */
  failureReason?: string;
  /** Set when somebody said why it failed. */
  failureMessage?: string;
  /** What its runner wrote. */
  trace?: string;
}

/** How a job ends. */
export type JobEnding =
  | { readonly status: 'success' | 'canceled' }
  | { readonly status: 'failed'; readonly failureReason?: string; readonly message?: string };

/** Seconds from start to end, as GitLab counts them; null before it started. While it runs, until now. */
export function durationSeconds(job: LocalJob, nowMs: number): number | null {
  if (job.startedAtMs === undefined) return null;
  return ((job.finishedAtMs ?? nowMs) - job.startedAtMs) / 1000;
}

export function queuedSeconds(job: LocalJob, nowMs: number): number | null {
  if (job.queuedAtMs === undefined) return null;
  return ((job.startedAtMs ?? job.finishedAtMs ?? nowMs) - job.queuedAtMs) / 1000;
}
