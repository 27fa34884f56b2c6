import type { Context, Hono } from 'hono';
import { isTerminal, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/index.ts';
import { isoText, jobEntity, shaOf, userEntity } from './bodies.ts';
import type { LocalJob } from './jobs.ts';
import { listPage, notFound } from './pagination.ts';
import type { GitLabState } from './state.ts';

/** A project whose pipelines can be started, with the jobs of its `.gitlab-ci.yml`. */
export interface LocalCiProject {
  readonly id: number;
  /** `group/project`. */
  readonly path: string;
  /** @default 'main' */
  readonly defaultBranch?: string;
  readonly jobs: readonly LocalCiJob[];
}

interface LocalCiJob {
  readonly name: string;
  readonly stage?: string;
  readonly tags?: readonly string[];
  readonly script?: readonly string[];
}

export interface LocalPipeline {
  readonly id: number;
  readonly project: LocalCiProject;
  readonly ref: string;
  readonly createdAtMs: number;
  readonly jobIds: readonly number[];
}

/** Pipelines that are started over the API, and the traces of jobs. */
export function pipelineRoutes(app: Hono, state: GitLabState): void {
  const { jobs, clock, instanceUrl } = state;
  const projectOf = (c: Context): LocalCiProject | undefined => {
    const asked = decodeURIComponent(c.req.param('projectId') ?? '');
    return state.ciProjects.find(({ id, path }) => String(id) === asked || path === asked);
  };
  const withPipeline = (answer: (c: Context, pipeline: LocalPipeline) => Response) => (c: Context) => {
    const found = state.pipelines.get(Number(c.req.param('pipelineId')));
    return found === undefined || found.project !== projectOf(c) ? notFound(c) : answer(c, found);
  };
  /** Newest first, as GitLab lists them. */
  const jobsOf = ({ jobIds }: LocalPipeline): readonly LocalJob[] =>
    jobIds.flatMap((id) => jobs.job(id) ?? []).reverse();
  const statusOf = (pipeline: LocalPipeline): string => {
    const statuses = new Set(jobsOf(pipeline).map(({ status }) => status));
    const inOrder = ['running', 'pending', 'failed', 'canceled'] as const;
    return inOrder.find((status) => statuses.has(status)) ?? 'success';
  };
  const listed = (pipeline: LocalPipeline): object => ({
    ...{ id: pipeline.id, iid: pipeline.id, project_id: pipeline.project.id, sha: shaOf(pipeline.id) },
    ...{ ref: pipeline.ref, status: statusOf(pipeline), source: 'api', name: null },
    created_at: isoText(pipeline.createdAtMs),
    updated_at: isoText(pipeline.createdAtMs),
    web_url: `${instanceUrl}/${pipeline.project.path}/-/pipelines/${pipeline.id}`,
  });
  const inFull = (pipeline: LocalPipeline): object => ({
    ...listed(pipeline),
    ...{ before_sha: '0'.repeat(40), tag: false, yaml_errors: null, committed_at: null, coverage: null },
    user: { ...userEntity(1, instanceUrl), avatar_url: null },
    ...{ started_at: null, finished_at: null, duration: null, queued_duration: 0 },
  });

  app.post('/projects/:projectId/pipeline', async (c) => {
    const project = projectOf(c);
    if (project === undefined) return notFound(c);
    const { ref } = await c.req.json<{ readonly ref?: unknown }>();
    if (ref !== (project.defaultBranch ?? 'main'))
      return c.json({ message: { base: ['Reference not found'] } }, 400);
    if (project.jobs.length === 0)
      return c.json({ message: { base: ['The resulting pipeline would have been empty.'] } }, 400);
    const id = Math.max(0, ...state.pipelines.keys()) + 1;
    const place = { projectId: project.id, projectPath: project.path, pipelineId: id, ref };
    const jobIds = project.jobs.map((job) => state.create({ id: jobs.nextId(), ...place, ...job }).id);
    const pipeline = { id, project, ref, createdAtMs: clock.nowMs(), jobIds };
    state.pipelines.set(id, pipeline);
    return c.json(inFull(pipeline), 201);
  });
  app.get('/projects/:projectId/pipelines', (c) => {
    const project = projectOf(c);
    if (project === undefined) return notFound(c);
    const { source = 'api', status } = c.req.query();
    const found = [...state.pipelines.values()].filter(
      (each) => each.project === project && source === 'api' && (status ?? statusOf(each)) === statusOf(each),
    );
    return listPage(c, found.reverse(), listed);
  });
  app.get(
    '/projects/:projectId/pipelines/:pipelineId/jobs',
    withPipeline((c, pipeline) =>
      listPage(c, jobsOf(pipeline), (job) => jobEntity(job, instanceUrl, clock.nowMs())),
    ),
  );
  app.post(
    '/projects/:projectId/pipelines/:pipelineId/cancel',
    withPipeline((c, pipeline) => {
      for (const { id, status } of jobsOf(pipeline))
        if (!isTerminal(status)) state.end(id, { status: 'canceled' });
      return c.json(inFull(pipeline));
    }),
  );
  app.get('/projects/:projectId/jobs/:jobId/trace', (c) => {
    const job = jobs.job(Number(c.req.param('jobId')));
    if (job === undefined || job.projectId !== Number(c.req.param('projectId'))) return notFound(c);
    return c.text(job.trace ?? '');
  });
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
    const job = jobs.job(id);
    if (job === undefined || job.projectPath !== variables.path) return c.json({ data: { project: null } });
    const detail = job.failureMessage ?? 'Please contact your administrator.';
    const failureMessage =
      job.failureReason === REJECTED_BY_ROUTER ? `The Job Router failed to run this job. ${detail}` : null;
    return c.json({ data: { project: { job: { failureMessage } } } });
  });
}
