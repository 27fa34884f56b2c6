/** Jobs and runners as GitLab's webhooks and REST API write them, in the fields that programs read. */
import type { LocalJob, LocalManager, LocalRunner } from './state.ts';

export const isoText = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

/** `2024-06-11T03:13:06Z`: a time in a job webhook, in whole seconds. */
const isoSeconds = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/** `2024-06-11 03:13:06 UTC`: the older spelling in the same webhook. */
const utcText = (atMs: number | undefined): string | null =>
  isoSeconds(atMs)?.replace('T', ' ').replace('Z', ' UTC') ?? null;

export const shaOf = (pipelineId: number): string => pipelineId.toString(16).padStart(40, 'c');

const userEntity = (id: number) => ({ id, username: `user${id}`, name: `User ${id}`, state: 'active' });

function seconds({ queuedAtMs, startedAtMs, finishedAtMs }: LocalJob, nowMs: number) {
  const since = (fromMs: number | undefined, untilMs: number): number | null =>
    fromMs === undefined ? null : (untilMs - fromMs) / 1000;
  return {
    duration: since(startedAtMs, finishedAtMs ?? nowMs),
    queued: since(queuedAtMs, startedAtMs ?? finishedAtMs ?? nowMs),
  };
}

/**
 * The body of a job webhook with GitLab's traps: times in two spellings, a failure reason on jobs that did not fail, a
 * `project_name` that is not a path, and a commit whose id is the pipeline's.
 */
export function jobHookBody(job: LocalJob, nowMs: number): Record<string, unknown> {
  const { createdAtMs, startedAtMs, finishedAtMs, projectPath, runner } = job;
  const { duration, queued } = seconds(job, nowMs);
  const pipelineId = job.pipelineId ?? job.id;
  return {
    ...{ object_kind: 'build', ref: job.ref ?? 'main', tag: false, sha: shaOf(pipelineId) },
    retries_count: job.retryCount ?? 0,
    ...{ build_id: job.id, build_name: job.name, build_stage: job.stage ?? 'test', build_status: job.status },
    build_created_at: utcText(createdAtMs),
    build_started_at: utcText(startedAtMs),
    build_finished_at: utcText(finishedAtMs),
    build_created_at_iso: isoSeconds(createdAtMs),
    build_started_at_iso: isoSeconds(startedAtMs),
    build_finished_at_iso: isoSeconds(finishedAtMs),
    ...{ build_duration: duration, build_queued_duration: queued, build_allow_failure: false },
    build_failure_reason: job.failureReason ?? 'unknown_failure',
    pipeline_id: pipelineId,
    runner: runner && {
      ...{ id: runner.id, description: descriptionOf(runner), tags: runner.tags ?? [], active: true },
      runner_type: runner.type ?? 'instance_type',
    },
    project_id: job.projectId,
    project_name: projectPath.replaceAll('/', ' / '),
    user: { ...userEntity(job.userId ?? 1), email: '[REDACTED]' },
    commit: { id: pipelineId, sha: shaOf(pipelineId), message: 'A commit\n' },
    project: { id: job.projectId, path_with_namespace: projectPath, default_branch: 'main' },
    environment: job.environment === undefined ? null : { name: job.environment, action: 'start' },
  };
}

const descriptionOf = ({ id, description }: LocalRunner): string => description ?? `runner-${id}`;

function jobBasic(job: LocalJob, instanceUrl: string, nowMs: number) {
  const pipelineId = job.pipelineId ?? job.id;
  const { duration, queued } = seconds(job, nowMs);
  const ref = job.ref ?? 'main';
  return {
    ...{ id: job.id, status: job.status, stage: job.stage ?? 'test', name: job.name, ref },
    created_at: isoText(job.createdAtMs),
    started_at: isoText(job.startedAtMs),
    finished_at: isoText(job.finishedAtMs),
    ...{ duration, queued_duration: queued, user: userEntity(job.userId ?? 1) },
    pipeline: { id: pipelineId, project_id: job.projectId, sha: shaOf(pipelineId), ref, status: 'running' },
    // GitLab leaves it out of jobs that did not fail.
    ...(job.status === 'failed' && { failure_reason: job.failureReason }),
    web_url: `${instanceUrl}/${job.projectPath}/-/jobs/${job.id}`,
  };
}

export const jobEntity = (job: LocalJob, instanceUrl: string, nowMs: number): object => ({
  ...jobBasic(job, instanceUrl, nowMs),
  project: { ci_job_token_scope_enabled: false },
  runner: job.runner === undefined ? null : runnerEntity(job.runner),
  tag_list: [...(job.tags ?? [])].sort(),
});

export const jobOfRunnerEntity = (job: LocalJob, instanceUrl: string, nowMs: number): object => ({
  ...jobBasic(job, instanceUrl, nowMs),
  project: { id: job.projectId, path_with_namespace: job.projectPath },
});

export function runnerEntity(runner: LocalRunner): object {
  const { id, paused = false, type = 'instance_type', status = 'online' } = runner;
  return {
    ...{ id, description: descriptionOf(runner), active: !paused, paused, name: 'gitlab-runner' },
    ...{ is_shared: type === 'instance_type', runner_type: type, online: status === 'online' },
    // Versions before 20.0 report `paused` instead of `online` and `offline`.
    status: paused ? 'paused' : status,
  };
}

export function runnerDetailEntity(runner: LocalRunner): object {
  const { type, tags = [], managers = [], ownerId, createdBy = null } = runner;
  const contactedAtMs = Math.max(0, ...managers.map((manager) => manager.contactedAtMs ?? 0));
  const owner = ownerId === undefined ? [] : [{ id: ownerId }];
  return {
    ...runnerEntity(runner),
    ...{ tag_list: tags, run_untagged: runner.runUntagged ?? tags.length === 0, locked: false },
    ...{ maximum_timeout: runner.maximumTimeoutSeconds ?? null, access_level: 'not_protected' },
    contacted_at: contactedAtMs === 0 ? null : isoText(contactedAtMs),
    maintenance_note: runner.maintenanceNote ?? null,
    created_by: createdBy === null ? null : { id: createdBy, username: `user${createdBy}` },
    ...(type === 'group_type' && { groups: owner }),
    projects: type === 'project_type' ? owner : [],
  };
}

export const managerEntity = (manager: LocalManager, at: number): object => ({
  ...{ id: at + 1, system_id: manager.systemId, version: manager.version },
  ...{ platform: manager.platform ?? 'linux', architecture: manager.architecture ?? 'amd64' },
  contacted_at: isoText(manager.contactedAtMs),
  status: manager.status ?? 'online',
});
