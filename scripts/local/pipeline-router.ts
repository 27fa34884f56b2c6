import { relative, resolve } from 'node:path';
import type { Directory } from '../../policies/directory.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { pipelineFile } from '../cli/check/pipeline-file.ts';
import { expandPipeline } from '../cli/pipeline/expand-pipeline.ts';
import type {
  ContainerOptions,
  ExpandedPipeline,
  PipelineJob,
  PipelineService,
} from '../cli/pipeline/expanded-pipeline.ts';
import {
  jobVariables,
  newPipelineRun,
  type PipelineProject,
  type PipelineRun,
  pick,
} from '../cli/pipeline/job-variables.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';
import { checksum, seededRandom } from './random.ts';
import type { AdmissionResult } from './router/admission.ts';
import { startLocalRouter } from './router/local-router.ts';

const JOBS_MIN = 160;

export type PipelineRequest = ReturnType<typeof jobQuestion>;
type Play = (request: PipelineRequest, admit: () => Promise<AdmissionResult>) => Promise<void>;

const TOKEN = 'glrct-local-not-a-secret';
/** If decisions take longer than this, requests slow down: a slow machine shows decisions, not fallbacks. */
const ANSWER_SECONDS = 0.5;
const OPEN_MIN = 8;

export const choosePipeline = (path: string | undefined, root: string): string =>
  path === undefined
    ? resolve(root, 'scripts/local/pipelines/web-shop')
    : pipelineFile(path, process.cwd()).file;

export async function openLocalRouter(
  options: StartOptions,
  pipelinePath: string,
  directory: Directory,
  firstJobId: number,
) {
  const pipeline = expandPipeline(pipelinePath);
  if (pipeline.jobs.length === 0) {
    const why = pipeline.notRead.length === 0 ? '' : `: ${pipeline.notRead.join('; ')}`;
    throw new UsageError(`--pipeline ${pipelinePath} has no jobs${why}`);
  }
  const projects = projectsOf(directory);
  const router = await startLocalRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  let sent = 0;
  const total = options.jobs ?? Math.max(JOBS_MIN, pipeline.jobs.length);
  return {
    url: router.wsUrl ?? '',
    token: TOKEN,
    facts: pipelineFacts(relative(process.cwd(), pipelinePath), pipeline),
    total,
    async run(stopped: () => boolean, play: Play): Promise<void> {
      await router.until(() => router.waitingStreams() > 0, { what: 'a relay that waits for questions' });
      await replay(
        pipelineRequests(pipeline.jobs, projects, total, firstJobId),
        options.rate,
        (request) => {
          sent += 1;
          return play(request, () => router.admit(request));
        },
        stopped,
      );
    },
    lastJobId: () => firstJobId + sent,
    close: () => router.close(),
  };
}

function projectsOf(directory: Directory): readonly PipelineProject[] {
  return [...directory.projectById.values()].map(({ id, path, groupId, visibility }) => ({
    ...{ id, path, namespaceId: groupId },
    rootNamespaceId: directory.chainById.get(groupId)?.[0]?.id ?? groupId,
    ...(visibility !== undefined && { visibility }),
  }));
}

function pipelineFacts(path: string, { jobs, notRead }: ExpandedPipeline): Readonly<Record<string, string>> {
  const ruled = jobs.filter(({ dependsOn }) => dependsOn !== undefined).length;
  return {
    pipeline: `${path}, ${jobs.length} jobs`,
    ...(ruled > 0 && {
      // Sources and branches are random here, so no single run of the pipeline is the right one.
      rules: `${ruled} depend on rules; each runs as if all open conditions held (see npx tollgate check)`,
    }),
    ...(notRead.length > 0 && {
      'not read': `${notRead.length} includes and child pipelines (see npx tollgate check)`,
    }),
  };
}

async function replay(
  questions: Iterable<PipelineRequest>,
  ratePerSecond: number,
  ask: (request: PipelineRequest) => Promise<unknown>,
  stopped: () => boolean,
): Promise<void> {
  let dueMs = performance.now();
  const openMax = Math.max(OPEN_MIN, Math.ceil(ratePerSecond * ANSWER_SECONDS));
  const open = new Set<Promise<unknown>>();
  const everyMs = 1_000 / ratePerSecond;
  for (const request of questions) {
    if (stopped()) break;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    while (open.size >= openMax) await Promise.race(open);
    // Delayed requests are not made up for: that would be a burst.
    dueMs = Math.max(dueMs, performance.now() - everyMs) + everyMs;
    const answered: Promise<unknown> = ask(request).finally(() => open.delete(answered));
    open.add(answered);
  }
  await Promise.all(open);
}

const TIMEOUT_SECONDS = 3_600;

function* pipelineRequests(
  jobs: readonly PipelineJob[],
  projects: readonly PipelineProject[],
  count: number,
  firstJobId: number,
): Generator<PipelineRequest> {
  const random = seededRandom(1);
  let nextPipelineId = firstJobId;
  let runs = new Map<PipelineProject, PipelineRun>();
  for (let index = 0; index < count; index += 1) {
    const place = index % jobs.length;
    if (place === 0) runs = new Map();
    const project = pick(projects, random);
    const run = runs.get(project) ?? newPipelineRun(project, nextPipelineId++, random);
    runs.set(project, run);
    const job = jobs[place];
    if (job !== undefined) yield jobQuestion(job, firstJobId + index, run);
  }
}

function jobQuestion(job: PipelineJob, jobId: number, run: PipelineRun) {
  const { project } = run;
  const { image } = job;
  return {
    id: jobId,
    job_info: {
      ...{ id: jobId, name: job.name, stage: job.stage, tags: job.tags },
      ...{ pipeline_id: run.pipelineId, user_id: run.userId, organization_id: 1 },
      ...{ project_id: project.id, project_full_path: project.path },
      project_name: project.path.slice(project.path.lastIndexOf('/') + 1),
      ...{ namespace_id: project.namespaceId, root_namespace_id: project.rootNamespaceId },
    },
    git_info: { ref: run.ref, ref_type: 'branch', protected: run.refProtected },
    runner_info: { timeout: job.timeoutSeconds ?? TIMEOUT_SECONDS, ...runnerFor(job.tags) },
    variables: jobVariables(job, jobId, run),
    ...(image !== undefined && { image: { name: image, ...containerFields(job) } }),
    services: job.services.map(serviceFields),
  };
}

const serviceFields = (service: PipelineService): object => {
  const variables = service.variables && Object.entries(service.variables);
  return withoutAbsent({
    ...{ name: service.name, alias: service.alias, ...containerFields(service) },
    variables: variables?.map(([key, value]) => ({ key, value, public: true })),
  });
};

function containerFields({ pullPolicies, dockerUser, kubernetesUser }: ContainerOptions): object {
  const options = withoutAbsent({
    docker: dockerUser === undefined ? undefined : { user: dockerUser },
    kubernetes: kubernetesUser === undefined ? undefined : { user: kubernetesUser },
  });
  const executorOptions = Object.keys(options).length > 0 ? options : undefined;
  return withoutAbsent({ pull_policy: pullPolicies, executor_opts: executorOptions });
}

/** The runner of jobs with these tags: always the same one, with one more tag. */
function runnerFor(tags: readonly string[]) {
  const sorted = [...tags].sort();
  const id = 1 + (checksum(sorted.join(',')) % 997);
  return { uuid: `runner-${id}`, id, tags: sorted.length === 0 ? ['untagged'] : [...sorted, 'docker'] };
}
