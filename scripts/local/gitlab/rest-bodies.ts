import { durationSeconds, type LocalJob, queuedSeconds } from './job.ts';
import { projectName, shaOf, userName } from './made-up.ts';
import { runnerEntity } from './runner-bodies.ts';
import { isoText } from './times.ts';

/** What the project's job list and the runner's have in common. `failure_reason` is there only when it failed. */
function jobBasic(job: LocalJob, instanceUrl: string, nowMs: number): Record<string, unknown> {
  const pipelineId = job.pipelineId ?? job.id;
  const webUrl = `${instanceUrl}/${job.projectPath}`;
  return {
    id: job.id,
    status: job.status,
    stage: job.stage ?? 'test',
    name: job.name,
    ref: job.ref ?? 'main',
    tag: false,
    coverage: null,
    allow_failure: false,
    created_at: isoText(job.createdAtMs),
    started_at: isoText(job.startedAtMs),
    finished_at: isoText(job.finishedAtMs),
    erased_at: null,
    duration: durationSeconds(job, nowMs),
    queued_duration: queuedSeconds(job, nowMs),
    user: {
      id: job.userId ?? 1,
      username: `user${job.userId ?? 1}`,
      name: userName(job.userId ?? 1),
      state: 'active',
      web_url: `${instanceUrl}/user${job.userId ?? 1}`,
    },
    commit: { id: shaOf(pipelineId), short_id: shaOf(pipelineId).slice(0, 8), title: 'A commit' },
    pipeline: {
      id: pipelineId,
      iid: 1,
      project_id: job.projectId,
      sha: shaOf(pipelineId),
      ref: job.ref ?? 'main',
      status: 'running',
      source: 'push',
      web_url: `${webUrl}/-/pipelines/${pipelineId}`,
    },
    ...(job.status === 'failed' && { failure_reason: job.failureReason }),
    web_url: `${webUrl}/-/jobs/${job.id}`,
  };
}

/** `GET /projects/:id/jobs/:job_id`. Its `project` has no id; the pipeline has it. */
export const jobEntity = (job: LocalJob, instanceUrl: string, nowMs: number): object => ({
  ...jobBasic(job, instanceUrl, nowMs),
  project: { ci_job_token_scope_enabled: false },
  artifacts: [],
  runner: job.runner === undefined ? null : runnerEntity(job.runner),
  runner_manager: null,
  artifacts_expire_at: null,
  archived: false,
  tag_list: [...(job.tags ?? [])].sort(),
});

/** An entry of `GET /runners/:id/jobs`: the project in full, the runner not at all. */
export function jobOfRunnerEntity(job: LocalJob, instanceUrl: string, nowMs: number): object {
  const segments = job.projectPath.split('/');
  const path = segments.at(-1) ?? '';
  return {
    ...jobBasic(job, instanceUrl, nowMs),
    project: {
      id: job.projectId,
      description: null,
      name: projectName(path),
      name_with_namespace: segments.map(projectName).join(' / '),
      path,
      path_with_namespace: job.projectPath,
      created_at: isoText(job.createdAtMs),
    },
  };
}
