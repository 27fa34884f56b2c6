import type { ContainerOptions, PipelineJob, PipelineService } from '../cli/pipeline/expanded-pipeline.ts';
import {
  jobVariables,
  newPipelineRun,
  type PipelineProject,
  type PipelineRun,
  pick,
} from '../cli/pipeline/job-variables.ts';
import type { JobQuestion } from './router/messages.ts';
import { seededRandom } from './seeded-random.ts';
import { checksum } from './workload/draw-pipeline.ts';

export interface QuestionOptions {
  readonly projects: readonly PipelineProject[];
  /** The same seed gives the same questions. @default 1 */
  readonly seed?: number;
  /** Number of requests; `Infinity` never ends. @default one for every job */
  readonly count?: number;
  /** The first job id. Ids are unique in GitLab, so a second run needs another one. @default 1 */
  readonly firstJobId?: number;
  /** @default 1 */
  readonly firstPipelineId?: number;
  /** The timeout of a job that sets none, in seconds. @default 3600, GitLab's own */
  readonly timeoutSeconds?: number;
  /**
   * `as_written` sends `$CI_IMAGE` unexpanded, because runners expand image names and a router may not.
   * @default 'expanded'
   */
  readonly images?: 'expanded' | 'as_written';
}

const TIMEOUT_SECONDS = 3_600;

/**
 * Yields the admission requests of a pipeline's jobs, again and again in the pipeline's order, each in a random project.
 * The jobs of one pass in one project share a pipeline.
 */
export function* pipelineQuestions(
  jobs: readonly PipelineJob[],
  options: QuestionOptions,
): Generator<JobQuestion> {
  if (jobs.length === 0) throw new Error('the pipeline has no jobs; nothing can be asked');
  const { projects, count = jobs.length, firstJobId = 1 } = options;
  const random = seededRandom(options.seed ?? 1);
  let nextPipelineId = options.firstPipelineId ?? 1;
  let runs = new Map<PipelineProject, PipelineRun>();
  for (let index = 0; index < count; index += 1) {
    const place = index % jobs.length;
    if (place === 0) runs = new Map();
    const project = pick(projects, random);
    const run = runs.get(project) ?? newPipelineRun(project, nextPipelineId++, random);
    runs.set(project, run);
    const job = jobs[place];
    if (job !== undefined) yield jobQuestion(job, firstJobId + index, run, options);
  }
}

/** One admission request, in the field names of the wire message. */
function jobQuestion(
  job: PipelineJob,
  jobId: number,
  run: PipelineRun,
  options: Pick<QuestionOptions, 'timeoutSeconds' | 'images'> = {},
): JobQuestion {
  const { project } = run;
  const image = options.images === 'as_written' ? (job.imageAsWritten ?? job.image) : job.image;
  return {
    id: jobId,
    job_info: {
      id: jobId,
      name: job.name,
      stage: job.stage,
      pipeline_id: run.pipelineId,
      project_id: project.id,
      project_name: project.path.slice(project.path.lastIndexOf('/') + 1),
      project_full_path: project.path,
      namespace_id: project.namespaceId,
      root_namespace_id: project.rootNamespaceId,
      organization_id: 1,
      user_id: run.userId,
      tags: job.tags,
    },
    git_info: { ref: run.ref, ref_type: 'branch', protected: run.refProtected },
    runner_info: {
      timeout: job.timeoutSeconds ?? options.timeoutSeconds ?? TIMEOUT_SECONDS,
      ...runnerFor(job.tags),
    },
    variables: jobVariables(job, jobId, run),
    ...(image !== undefined && { image: { name: image, ...containerFields(job) } }),
    services: job.services.map(serviceFields),
  };
}

const serviceFields = (service: PipelineService): object => ({
  name: service.name,
  ...(service.alias !== undefined && { alias: service.alias }),
  ...containerFields(service),
  ...(service.variables !== undefined && {
    variables: Object.entries(service.variables).map(([key, value]) => ({ key, value, public: true })),
  }),
});

function containerFields({ pullPolicies, dockerUser, kubernetesUser }: ContainerOptions): object {
  const options = {
    ...(dockerUser !== undefined && { docker: { user: dockerUser } }),
    ...(kubernetesUser !== undefined && { kubernetes: { user: kubernetesUser } }),
  };
  return {
    ...(pullPolicies !== undefined && { pull_policy: pullPolicies }),
    ...(Object.keys(options).length > 0 && { executor_opts: options }),
  };
}

/** The runner of jobs with these tags: always the same one, with one more tag. */
function runnerFor(tags: readonly string[]): { uuid: string; id: number; tags: readonly string[] } {
  const sorted = [...tags].sort();
  const id = 1 + (checksum(sorted.join(',')) % 997);
  return { uuid: `runner-${id}`, id, tags: sorted.length === 0 ? ['untagged'] : [...sorted, 'docker'] };
}
