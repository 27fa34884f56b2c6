import { durationSeconds, type LocalJob, type LocalRunner, queuedSeconds } from './job.ts';
import { projectName, shaOf, userName } from './made-up.ts';
import { isoSecondsText, utcText } from './times.ts';

/**
 * The body of a job webhook as GitLab sends it, with its traps: times in two spellings, a failure reason on jobs that did
 * not fail, `project_name` that is no path, and a commit whose id is the pipeline's.
 */
export function jobHookBody(job: LocalJob, instanceUrl: string, nowMs: number): Record<string, unknown> {
  const pipelineId = job.pipelineId ?? job.id;
  const sha = shaOf(pipelineId);
  const webUrl = `${instanceUrl}/${job.projectPath}`;
  const segments = job.projectPath.split('/');
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
    build_created_at: utcText(job.createdAtMs),
    build_started_at: utcText(job.startedAtMs),
    build_finished_at: utcText(job.finishedAtMs),
    build_created_at_iso: isoSecondsText(job.createdAtMs),
    build_started_at_iso: isoSecondsText(job.startedAtMs),
    build_finished_at_iso: isoSecondsText(job.finishedAtMs),
    build_duration: durationSeconds(job, nowMs),
    build_queued_duration: queuedSeconds(job, nowMs),
    build_allow_failure: false,
    build_failure_reason: job.failureReason ?? 'unknown_failure',
    pipeline_id: pipelineId,
    runner: job.runner === undefined ? null : hookRunner(job.runner),
    project_id: job.projectId,
    project_name: segments.map(projectName).join(' / '),
    user: {
      id: job.userId ?? 1,
      name: userName(job.userId ?? 1),
      username: `user${job.userId ?? 1}`,
      avatar_url: null,
      email: '[REDACTED]',
    },
    commit: {
      id: pipelineId,
      name: null,
      sha,
      message: 'A commit\n',
      author_name: userName(job.userId ?? 1),
      author_email: `user${job.userId ?? 1}@example.com`,
      author_url: `${instanceUrl}/user${job.userId ?? 1}`,
      status: 'running',
      duration: null,
      started_at: utcText(job.createdAtMs),
      finished_at: null,
      started_at_iso: isoSecondsText(job.createdAtMs),
      finished_at_iso: null,
    },
    repository: {
      name: projectName(segments.at(-1) ?? ''),
      url: `git@gitlab.localhost:${job.projectPath}.git`,
      description: '',
      homepage: webUrl,
      git_http_url: `${webUrl}.git`,
      git_ssh_url: `git@gitlab.localhost:${job.projectPath}.git`,
      visibility_level: 0,
    },
    project: {
      id: job.projectId,
      name: projectName(segments.at(-1) ?? ''),
      description: '',
      web_url: webUrl,
      avatar_url: null,
      git_ssh_url: `git@gitlab.localhost:${job.projectPath}.git`,
      git_http_url: `${webUrl}.git`,
      namespace: projectName(segments.at(-2) ?? ''),
      visibility_level: 0,
      path_with_namespace: job.projectPath,
      default_branch: 'main',
      ci_config_path: null,
    },
    environment: job.environment === undefined ? null : { name: job.environment, action: 'start' },
  };
}

const hookRunner = (runner: LocalRunner): object => ({
  id: runner.id,
  description: runner.description ?? `runner-${runner.id}`,
  runner_type: runner.type ?? 'instance_type',
  active: true,
  is_shared: (runner.type ?? 'instance_type') === 'instance_type',
  tags: runner.tags ?? [],
});
