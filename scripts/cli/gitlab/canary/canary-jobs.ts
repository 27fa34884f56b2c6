import {
  type CanaryJob,
  type GitLabPipelines,
  isTerminal,
  JOB_STATUSES,
} from '../../../../functions/core/gitlab/index.ts';
import { refused, type SetupLine } from '../setup-line.ts';
import type { CanaryCourse } from './canary-course.ts';
import type { CanaryPlace } from './canary-place.ts';
import { CANARY_JOBS } from './canary-verdict.ts';

const POLL_MS = 2_000;

interface CanaryPipeline {
  readonly pipelineId: number;
  readonly jobs: readonly CanaryJob[];
}

const CI_FILE = 'its .gitlab-ci.yml must be the one of docs/platform.md, with the tag of the runner';

/** Starts the pipeline of the default branch: two jobs, both for the canary's runner. */
export async function startCanaryJobs(
  pipelines: GitLabPipelines,
  { project, tag }: CanaryPlace,
): Promise<CanaryPipeline | { readonly line: SetupLine }> {
  const started = await pipelines.start(project.id, project.default_branch);
  if (!started.ok) return { line: refused('pipeline', started.refusal) };
  const pipelineId = started.value.id;
  const jobs = await pipelines.jobs(project.id, pipelineId);
  if (!jobs.ok) return { line: refused('pipeline', jobs.refusal) };
  const named = jobs.value.map(({ name }) => name).sort();
  const isRight =
    named.join() === CANARY_JOBS.toSorted().join() &&
    jobs.value.every(({ tag_list }) => tag_list.join() === tag);
  if (isRight) return { pipelineId, jobs: jobs.value };
  const says = `the pipeline has the jobs ${named.join(', ')}; expected ${CANARY_JOBS.join(' and ')}, each with the tag ${tag}`;
  // Not of the canary's form, so the clean-up would leave it.
  await pipelines.cancel(project.id, pipelineId);
  return { line: { part: 'project', standing: 'wrong', says, remedy: CI_FILE } };
}

/** Returns the jobs when both have ended, at the timeout, or on abort. */
export async function endedJobs(
  { pipelines, clock, waitMs, stop, tell }: CanaryCourse,
  projectId: number,
  { pipelineId, jobs }: CanaryPipeline,
): Promise<CanaryPipeline | { readonly line: SetupLine }> {
  const untilMs = clock.monotonicMs() + waitMs;
  for (let last = jobs; ; ) {
    tell(last.map(({ name, status }) => `${name} is ${status}`).join(', '));
    if (last.every(isOver) || stop.aborted || clock.monotonicMs() >= untilMs)
      return { pipelineId, jobs: last };
    await clock.sleep(POLL_MS);
    const now = await pipelines.jobs(projectId, pipelineId);
    if (!now.ok) return { line: refused('pipeline', now.refusal) };
    last = now.value;
  }
}

const isOver = ({ status }: CanaryJob): boolean =>
  JOB_STATUSES.some((known) => known === status && isTerminal(known));
