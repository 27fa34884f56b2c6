import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { isTerminal, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRequestOutcome, RouterGitLab, RouterJob } from '../router/messages.ts';
import { isoText, jobEntity, managerEntity, runnerDetailEntity, runnerEntity, shaOf } from './bodies.ts';
import { tokenText } from './controllers.ts';
import { forbidden, listPage, notFound, routesBelow } from './instance.ts';
import {
  type GitLabState,
  type LocalJob,
  type LocalRunner,
  type NewJob,
  nextId,
  sortedRunners,
} from './state.ts';

/** Runners authenticate here with their own tokens, or with those of their jobs. */
export const RUNNER_PATH = /^\/api\/v4\/jobs\//;

const TIMEOUT_SECONDS = 3_600;

const Creation = z.object({
  runner_type: z.enum(['instance_type', 'group_type', 'project_type']),
  group_id: z.int().optional(),
  project_id: z.int().optional(),
  description: z.string().optional(),
  tag_list: z.array(z.string()).optional(),
  run_untagged: z.boolean().optional(),
  maximum_timeout: z.int().min(600).optional(),
  maintenance_note: z.string().max(1_024).optional(),
});
const JobRequest = z.object({ token: z.string() });
const JobUpdate = z.object({
  token: z.string(),
  state: z.enum(['running', 'success', 'failed']),
  failure_reason: z.string().optional(),
});

export function runnerRoutes(app: Hono, state: GitLabState): void {
  const { runners } = state;
  const route = routesBelow(app, '/runners/:runnerId', (c) => runners.get(Number(c.req.param('runnerId'))));
  app.get('/runners/all', (c) => {
    const { type: wantedType, tag_list: wantedTags = '' } = c.req.query();
    const found = sortedRunners(state).filter(
      ({ type = 'instance_type', tags = [] }) =>
        (wantedType ?? type) === type &&
        wantedTags.split(',').every((tag) => tag === '' || tags.includes(tag)),
    );
    return listPage(c, found, runnerEntity);
  });
  route('GET', '', (c, runner) => c.json(runnerDetailEntity(runner)));
  route('GET', '/managers', (c, { managers = [] }) => c.json(managers.map(managerEntity)));
  route('PUT', '', async (c, runner) => {
    const { paused } = await c.req.json<{ readonly paused?: boolean }>();
    const changed = { ...runner, paused: paused === true };
    runners.set(runner.id, changed);
    return c.json(runnerDetailEntity(changed));
  });
  app.post('/user/runners', async (c) => {
    const creation = Creation.safeParse(await c.req.json());
    if (!creation.success) return c.json({ error: 'runner_type does not have a valid value' }, 400);
    const { data } = creation;
    const ownerId = data.group_id ?? data.project_id;
    if ((ownerId === undefined) !== (data.runner_type === 'instance_type'))
      return c.json({ message: 'Failed to create runner: a group or project runner needs its owner' }, 400);
    const id = nextId(runners);
    const token = `glrt-${tokenText(state.random)}`;
    runners.set(id, {
      ...{ id, type: data.runner_type, status: 'never_contacted', createdBy: 1, token },
      tags: data.tag_list ?? [],
      ...withoutAbsent({
        description: data.description,
        runUntagged: data.run_untagged,
        maximumTimeoutSeconds: data.maximum_timeout,
        maintenanceNote: data.maintenance_note,
        ownerId,
      }),
    });
    return c.json({ id, token, token_expires_at: null }, 201);
  });
}

export function runnerJobRoutes(app: Hono, state: GitLabState): void {
  const jobOf = (c: Context, token: string | undefined): LocalJob | undefined => {
    const id = Number(c.req.param('jobId'));
    return token !== undefined && state.jobTokens.get(id) === token ? state.jobs.get(id) : undefined;
  };
  app.post('/jobs/request', async (c) => {
    const request = JobRequest.safeParse(await c.req.json());
    const outcome = request.success ? requestJob(state, request.data.token) : { kind: 'refused' as const };
    if (outcome.kind === 'refused') return forbidden(c);
    return outcome.kind === 'none' ? c.body(null, 204) : c.json(outcome.payload, 201);
  });
  app.put('/jobs/:jobId', async (c) => {
    const update = JobUpdate.safeParse(await c.req.json());
    if (!update.success) return c.json({ error: 'state does not have a valid value' }, 400);
    const job = jobOf(c, update.data.token);
    if (job === undefined) return forbidden(c);
    const { state: status, failure_reason } = update.data;
    // A job that ended meanwhile, e.g. was canceled, keeps its status.
    if (status !== 'running' && !isTerminal(job.status))
      state.end(job.id, { status, ...(failure_reason !== undefined && { failureReason: failure_reason }) });
    c.header('Job-Status', job.status);
    return c.json(200);
  });
  app.patch('/jobs/:jobId/trace', async (c) => {
    const job = jobOf(c, c.req.header('job-token'));
    if (job === undefined) return forbidden(c);
    c.header('Job-Status', job.status);
    if (job.status !== 'running') return forbidden(c);
    job.trace = `${job.trace ?? ''}${await c.req.text()}`;
    return c.body(null, 202);
  });
}

export const newRouterSide = (state: GitLabState): RouterGitLab => ({
  controllers: () =>
    [...state.controllers.values()].map(({ id, state: mode, instanceScope = false, runnerScopes = [] }) => ({
      ...{ id, state: mode, tokens: state.controllerTokens.of(id).map(({ value }) => value) },
      ...(!instanceScope && { runnerIds: runnerScopes }),
    })),
  tokenUsed: (token) => state.controllerTokens.use(token, state.clock.nowMs()),
  requestJob: (token) => requestJob(state, token),
  failJob(jobId, message) {
    if (state.jobs.get(jobId)?.status === 'running')
      state.end(jobId, { status: 'failed', failureReason: REJECTED_BY_ROUTER, message });
  },
});

export const runnerOf = (state: GitLabState, token: string): LocalRunner | undefined =>
  sortedRunners(state).find((runner) => runner.token !== undefined && runner.token === token);

function requestJob(state: GitLabState, runnerToken: string): JobRequestOutcome {
  const runner = runnerOf(state, runnerToken);
  if (runner === undefined) return { kind: 'refused' };
  const [job] = [...state.jobs.values()].filter((each) => mayTake(runner, each)).sort((a, b) => a.id - b.id);
  if (job === undefined) return { kind: 'none' };
  state.start(job.id, runner);
  const token = `glcbt-${Math.floor(state.random() * 2 ** 48).toString(36)}`;
  state.jobTokens.set(job.id, token);
  const request = questionOf(job, runner);
  const steps = [{ name: 'script', script: job.script ?? [], timeout: TIMEOUT_SECONDS, when: 'on_success' }];
  const payload = { ...request, token, allow_git_fetch: true, steps };
  return { kind: 'job', jobId: job.id, runnerId: runner.id, payload, request };
}

/** A runner needs all tags of a job; a job without tags goes to runners that accept untagged jobs. */
function mayTake(runner: LocalRunner, { status, tags = [] }: LocalJob): boolean {
  if (status !== 'pending' || runner.paused === true) return false;
  const own = runner.tags ?? [];
  return tags.length === 0
    ? (runner.runUntagged ?? own.length === 0)
    : tags.every((tag) => own.includes(tag));
}

function questionOf(job: LocalJob, runner: LocalRunner): RouterJob {
  const { id, name, stage = 'test', pipelineId = id, projectId, projectPath, userId = 1, ref = 'main' } = job;
  return {
    id,
    job_info: {
      ...{ id, name, stage, pipeline_id: pipelineId, project_id: projectId, user_id: userId },
      project_name: projectPath.slice(projectPath.lastIndexOf('/') + 1),
      project_full_path: projectPath,
      tags: job.tags ?? [],
    },
    git_info: { ref, ref_type: 'branch', protected: true },
    runner_info: {
      timeout: TIMEOUT_SECONDS,
      uuid: `runner-${runner.id}`,
      id: runner.id,
      tags: runner.tags ?? [],
    },
    variables: [
      { key: 'CI_PROJECT_PATH', value: projectPath, public: true },
      { key: 'CI_PIPELINE_SOURCE', value: 'api', public: true },
      { key: 'CI_RUNNER_ID', value: String(runner.id), public: true },
    ],
    image: { name: 'alpine:3.22' },
  };
}

export interface LocalCiProject {
  readonly id: number;
  readonly path: string;
  readonly defaultBranch?: string;
  readonly jobs: readonly Pick<NewJob, 'name' | 'stage' | 'tags' | 'script'>[];
}

export interface LocalPipeline {
  readonly id: number;
  readonly project: LocalCiProject;
  readonly ref: string;
  readonly createdAtMs: number;
  readonly jobIds: readonly number[];
}

export function pipelineRoutes(app: Hono, state: GitLabState): void {
  const { jobs, clock, instanceUrl } = state;
  const route = routesBelow(app, '/projects/:projectId', (c) => {
    const idOrPath = decodeURIComponent(c.req.param('projectId') ?? '');
    return state.ciProjects.find(({ id, path }) => String(id) === idOrPath || path === idOrPath);
  });
  const onPipeline =
    (answer: (c: Context, pipeline: LocalPipeline) => Response) => (c: Context, project: LocalCiProject) => {
      const pipeline = state.pipelines.get(Number(c.req.param('pipelineId')));
      return pipeline?.project === project ? answer(c, pipeline) : notFound(c);
    };
  const jobsOf = ({ jobIds }: LocalPipeline): readonly LocalJob[] =>
    jobIds.flatMap((id) => jobs.get(id) ?? []).reverse();
  const statusOf = (pipeline: LocalPipeline): string => {
    const statuses = new Set<string>(jobsOf(pipeline).map(({ status }) => status));
    const inOrder = ['running', 'pending', 'failed', 'canceled'];
    return inOrder.find((status) => statuses.has(status)) ?? 'success';
  };
  const entity = (pipeline: LocalPipeline): object => ({
    ...{ id: pipeline.id, project_id: pipeline.project.id, sha: shaOf(pipeline.id), ref: pipeline.ref },
    ...{ status: statusOf(pipeline), source: 'api', created_at: isoText(pipeline.createdAtMs) },
    web_url: `${instanceUrl}/${pipeline.project.path}/-/pipelines/${pipeline.id}`,
  });

  route('POST', '/pipeline', async (c, project) => {
    const { ref } = await c.req.json<{ readonly ref?: unknown }>();
    if (ref !== (project.defaultBranch ?? 'main'))
      return c.json({ message: { base: ['Reference not found'] } }, 400);
    if (project.jobs.length === 0)
      return c.json({ message: { base: ['The resulting pipeline would have been empty.'] } }, 400);
    const id = nextId(state.pipelines);
    const place = { projectId: project.id, projectPath: project.path, pipelineId: id, ref };
    const jobIds = project.jobs.map((job) => state.create({ id: nextId(jobs), ...place, ...job }).id);
    const pipeline = { id, project, ref, createdAtMs: clock.nowMs(), jobIds };
    state.pipelines.set(id, pipeline);
    return c.json(entity(pipeline), 201);
  });
  route('GET', '/pipelines', (c, project) => {
    const status = c.req.query('status');
    const found = [...state.pipelines.values()].filter(
      (each) => each.project === project && (status ?? statusOf(each)) === statusOf(each),
    );
    return listPage(c, found.reverse(), entity);
  });
  const jobsOfPipeline = onPipeline((c, pipeline) =>
    listPage(c, jobsOf(pipeline), (job) => jobEntity(job, instanceUrl, clock.nowMs())),
  );
  route('GET', '/pipelines/:pipelineId/jobs', jobsOfPipeline);
  const cancel = onPipeline((c, pipeline) => {
    for (const { id, status } of jobsOf(pipeline))
      if (!isTerminal(status)) state.end(id, { status: 'canceled' });
    return c.json(entity(pipeline));
  });
  route('POST', '/pipelines/:pipelineId/cancel', cancel);
}

/** `failureMessage` of a job, which only GraphQL has: GitLab's sentence with the controller's reason in it. */
export function jobMessageRoute(app: Hono, { token, jobs }: GitLabState): void {
  app.post('/api/graphql', async (c) => {
    if (c.req.header('private-token') !== token)
      return c.json({ errors: [{ message: 'Invalid token' }] }, 401);
    const { query = '', variables = {} } = await c.req.json<{
      readonly query?: string;
      readonly variables?: Readonly<Record<string, unknown>>;
    }>();
    if (!query.includes('failureMessage'))
      return c.json({ errors: [{ message: 'only failureMessage of a job is known here' }] });
    const id = Number(/^gid:\/\/gitlab\/Ci::Build\/(\d+)$/.exec(String(variables.id))?.[1]);
    const job = jobs.get(id);
    if (job === undefined || job.projectPath !== variables.path) return c.json({ data: { project: null } });
    const detail = job.failureMessage ?? 'Please contact your administrator.';
    const failureMessage =
      job.failureReason === REJECTED_BY_ROUTER ? `The Job Router failed to run this job. ${detail}` : null;
    return c.json({ data: { project: { job: { failureMessage } } } });
  });
}
