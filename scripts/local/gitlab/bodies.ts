/** Jobs and runners as GitLab's webhooks and REST API write them. Invented values are the same for the same job. */
import type { LocalJob, LocalManager, LocalRunner } from './state.ts';

/** `2024-06-11T03:13:06.123Z`: a time in the REST API. */
export const isoText = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

/** `2024-06-11T03:13:06Z`: a time in a job webhook, in whole seconds. */
const isoSeconds = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/** `2024-06-11 03:13:06 UTC`: the older spelling in the same webhook. */
const utcText = (atMs: number | undefined): string | null =>
  isoSeconds(atMs)?.replace('T', ' ').replace('Z', ' UTC') ?? null;

/** `web-shop` → `Web shop`: a display name, which is not a path. */
export function displayName(segment: string): string {
  const words = segment.replace(/[-_.]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const shaOf = (pipelineId: number): string => pipelineId.toString(16).padStart(40, 'c');

export const userEntity = (id: number, instanceUrl: string) => ({
  id,
  username: `user${id}`,
  name: `User ${id}`,
  state: 'active',
  web_url: `${instanceUrl}/user${id}`,
});

/** Seconds from start to end, or until now while it runs; null before it started. */
function durationSeconds({ startedAtMs, finishedAtMs }: LocalJob, nowMs: number): number | null {
  return startedAtMs === undefined ? null : ((finishedAtMs ?? nowMs) - startedAtMs) / 1000;
}

function queuedSeconds({ queuedAtMs, startedAtMs, finishedAtMs }: LocalJob, nowMs: number): number | null {
  return queuedAtMs === undefined ? null : ((startedAtMs ?? finishedAtMs ?? nowMs) - queuedAtMs) / 1000;
}

/**
 * The body of a job webhook with GitLab's traps: times in two spellings, a failure reason on jobs that did not fail,
 * a `project_name` that is not a path, and a commit whose id is the pipeline's.
 */
export function jobHookBody(job: LocalJob, instanceUrl: string, nowMs: number): Record<string, unknown> {
  const { createdAtMs, startedAtMs, finishedAtMs, projectPath, runner } = job;
  const pipelineId = job.pipelineId ?? job.id;
  const sha = shaOf(pipelineId);
  const webUrl = `${instanceUrl}/${projectPath}`;
  const sshUrl = `git@gitlab.localhost:${projectPath}.git`;
  const segments = projectPath.split('/');
  const user = userEntity(job.userId ?? 1, instanceUrl);
  const runnerType = runner?.type ?? 'instance_type';
  return {
    object_kind: 'build',
    ref: job.ref ?? 'main',
    tag: false,
    before_sha: '0'.repeat(40),
    sha,
    retries_count: job.retryCount ?? 0,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage ?? 'test',
    build_status: job.status,
    build_created_at: utcText(createdAtMs),
    build_started_at: utcText(startedAtMs),
    build_finished_at: utcText(finishedAtMs),
    build_created_at_iso: isoSeconds(createdAtMs),
    build_started_at_iso: isoSeconds(startedAtMs),
    build_finished_at_iso: isoSeconds(finishedAtMs),
    build_duration: durationSeconds(job, nowMs),
    build_queued_duration: queuedSeconds(job, nowMs),
    build_allow_failure: false,
    build_failure_reason: job.failureReason ?? 'unknown_failure',
    pipeline_id: pipelineId,
    runner:
      runner === undefined
        ? null
        : {
            id: runner.id,
            description: runner.description ?? `runner-${runner.id}`,
            runner_type: runnerType,
            active: true,
            is_shared: runnerType === 'instance_type',
            tags: runner.tags ?? [],
          },
    project_id: job.projectId,
    project_name: segments.map(displayName).join(' / '),
    user: {
      ...{ id: user.id, name: user.name, username: user.username },
      ...{ avatar_url: null, email: '[REDACTED]' },
    },
    commit: {
      ...{ id: pipelineId, name: null, sha, message: 'A commit\n' },
      ...{ author_name: user.name, author_email: `${user.username}@example.com`, author_url: user.web_url },
      ...{ status: 'running', duration: null, finished_at: null, finished_at_iso: null },
      ...{ started_at: utcText(createdAtMs), started_at_iso: isoSeconds(createdAtMs) },
    },
    repository: {
      name: displayName(segments.at(-1) ?? ''),
      ...{ url: sshUrl, description: '', homepage: webUrl },
      ...{ git_http_url: `${webUrl}.git`, git_ssh_url: sshUrl, visibility_level: 0 },
    },
    project: {
      id: job.projectId,
      name: displayName(segments.at(-1) ?? ''),
      ...{ description: '', web_url: webUrl, avatar_url: null, git_ssh_url: sshUrl },
      git_http_url: `${webUrl}.git`,
      namespace: displayName(segments.at(-2) ?? ''),
      ...{ visibility_level: 0, path_with_namespace: projectPath, default_branch: 'main' },
      ci_config_path: null,
    },
    environment: job.environment === undefined ? null : { name: job.environment, action: 'start' },
  };
}

/** The fields that a project's job list and a runner's job list share. */
function jobBasic(job: LocalJob, instanceUrl: string, nowMs: number): Record<string, unknown> {
  const pipelineId = job.pipelineId ?? job.id;
  const webUrl = `${instanceUrl}/${job.projectPath}`;
  const sha = shaOf(pipelineId);
  const ref = job.ref ?? 'main';
  return {
    id: job.id,
    status: job.status,
    stage: job.stage ?? 'test',
    name: job.name,
    ...{ ref, tag: false, coverage: null, allow_failure: false },
    created_at: isoText(job.createdAtMs),
    started_at: isoText(job.startedAtMs),
    finished_at: isoText(job.finishedAtMs),
    erased_at: null,
    duration: durationSeconds(job, nowMs),
    queued_duration: queuedSeconds(job, nowMs),
    user: userEntity(job.userId ?? 1, instanceUrl),
    commit: { id: sha, short_id: sha.slice(0, 8), title: 'A commit' },
    pipeline: {
      ...{ id: pipelineId, iid: 1, project_id: job.projectId, sha, ref, status: 'running', source: 'push' },
      web_url: `${webUrl}/-/pipelines/${pipelineId}`,
    },
    // GitLab leaves it out of jobs that did not fail.
    ...(job.status === 'failed' && { failure_reason: job.failureReason }),
    web_url: `${webUrl}/-/jobs/${job.id}`,
  };
}

/** `GET /projects/:id/jobs/:job_id`. Its `project` has no id; the pipeline has it. */
export const jobEntity = (job: LocalJob, instanceUrl: string, nowMs: number): object => ({
  ...jobBasic(job, instanceUrl, nowMs),
  project: { ci_job_token_scope_enabled: false },
  runner: job.runner === undefined ? null : runnerEntity(job.runner),
  ...{ artifacts: [], runner_manager: null, artifacts_expire_at: null, archived: false },
  tag_list: [...(job.tags ?? [])].sort(),
});

/** An entry of `GET /runners/:id/jobs`: the whole project, and no runner. */
export function jobOfRunnerEntity(job: LocalJob, instanceUrl: string, nowMs: number): object {
  const segments = job.projectPath.split('/');
  const path = segments.at(-1) ?? '';
  return {
    ...jobBasic(job, instanceUrl, nowMs),
    project: {
      ...{ id: job.projectId, description: null, name: displayName(path), path },
      name_with_namespace: segments.map(displayName).join(' / '),
      path_with_namespace: job.projectPath,
      created_at: isoText(job.createdAtMs),
    },
  };
}

/** An entry of the lists of runners, and a job's `runner`: without tags and versions. */
export function runnerEntity(runner: LocalRunner): object {
  const { id, paused = false, type = 'instance_type', status = 'online' } = runner;
  return {
    ...{ id, description: runner.description ?? `runner-${id}`, ip_address: '', active: !paused, paused },
    ...{ is_shared: type === 'instance_type', runner_type: type, name: 'gitlab-runner' },
    online: status === 'online',
    // Versions before 20.0 report `paused` instead of `online` and `offline`.
    status: paused ? 'paused' : status,
    job_execution_status: 'idle',
  };
}

/** `GET /runners/:id`: version and platform are those of the manager with the latest contact. */
export function runnerDetailEntity(runner: LocalRunner): object {
  const { type, tags = [], managers = [], ownerId, createdBy = null } = runner;
  const latest = managers.toSorted((a, b) => (b.contactedAtMs ?? 0) - (a.contactedAtMs ?? 0))[0];
  const owner = ownerId === undefined ? [] : [{ id: ownerId, name: `owner ${ownerId}` }];
  return {
    ...runnerEntity(runner),
    ...{ tag_list: tags, run_untagged: runner.runUntagged ?? tags.length === 0, locked: false },
    ...{ maximum_timeout: runner.maximumTimeoutSeconds ?? null, access_level: 'not_protected' },
    ...{ version: latest?.version ?? null, revision: null },
    platform: latest === undefined ? null : (latest.platform ?? 'linux'),
    architecture: latest === undefined ? null : (latest.architecture ?? 'amd64'),
    contacted_at: isoText(latest?.contactedAtMs),
    maintenance_note: runner.maintenanceNote ?? null,
    created_by: createdBy === null ? null : { id: createdBy, username: `user${createdBy}` },
    ...(type === 'group_type' && { groups: owner }),
    projects: type === 'project_type' ? owner : [],
  };
}

/** An entry of `GET /runners/:id/managers`. */
export const managerEntity = (manager: LocalManager, at: number): object => ({
  ...{ id: at + 1, system_id: manager.systemId, version: manager.version, revision: '91a27b2a' },
  ...{ platform: manager.platform ?? 'linux', architecture: manager.architecture ?? 'amd64' },
  created_at: isoText(manager.contactedAtMs),
  contacted_at: isoText(manager.contactedAtMs),
  ...{ ip_address: '127.0.0.1', status: manager.status ?? 'online', job_execution_status: 'idle' },
});
