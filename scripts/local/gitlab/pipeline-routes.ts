import type { Context, Hono } from 'hono';
import type { WallClock } from '../clock/clock.ts';
import type { JobBook } from './job-book.ts';
import { shaOf, userName } from './made-up.ts';
import { numberedPage } from './pagination.ts';
import type { PipelineBook } from './pipeline-book.ts';
import { jobEntity } from './rest-bodies.ts';
import { isoText } from './times.ts';

interface PipelineParts {
  readonly pipelines: PipelineBook;
  readonly book: JobBook;
  readonly clock: WallClock;
  readonly instanceUrl: string;
}

type Pipeline = NonNullable<ReturnType<PipelineBook['find']>>;

/** Projects whose pipelines can be started, their pipelines, and the traces of jobs. */
export function pipelineRoutes(app: Hono, { pipelines, book, clock, instanceUrl }: PipelineParts): void {
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);
  const projectOf = (c: Context) => pipelines.project(decodeURIComponent(c.req.param('projectId') ?? ''));
  const pipelineOf = (c: Context): Pipeline | undefined => {
    const found = pipelines.find(Number(c.req.param('pipelineId')));
    return found?.project === projectOf(c) ? found : undefined;
  };
  const listed = (pipeline: Pipeline): object => ({
    id: pipeline.id,
    iid: pipeline.id,
    project_id: pipeline.project.id,
    sha: shaOf(pipeline.id),
    ref: pipeline.ref,
    status: pipelines.statusOf(pipeline),
    source: pipeline.source,
    name: null,
    created_at: isoText(pipeline.createdAtMs),
    updated_at: isoText(pipeline.createdAtMs),
    web_url: `${instanceUrl}/${pipeline.project.path}/-/pipelines/${pipeline.id}`,
  });
  const shown = (pipeline: Pipeline): object => ({
    ...listed(pipeline),
    ...{ before_sha: '0'.repeat(40), tag: false, yaml_errors: null, committed_at: null, coverage: null },
    user: {
      ...{ id: 1, username: 'user1', name: userName(1), state: 'active', avatar_url: null },
      web_url: `${instanceUrl}/user1`,
    },
    ...{ started_at: null, finished_at: null, duration: null, queued_duration: 0 },
  });

  app.post('/projects/:projectId/pipeline', async (c) => {
    const project = projectOf(c);
    if (project === undefined) return missing(c);
    const { ref } = await c.req.json<{ readonly ref?: unknown }>();
    if (ref !== (project.defaultBranch ?? 'main'))
      return c.json({ message: { base: ['Reference not found'] } }, 400);
    const started = pipelines.start(project, ref, 'api', clock.nowMs());
    return started === undefined
      ? c.json({ message: { base: ['The resulting pipeline would have been empty.'] } }, 400)
      : c.json(shown(started), 201);
  });
  app.get('/projects/:projectId/pipelines', (c) => {
    const project = projectOf(c);
    if (project === undefined) return missing(c);
    const url = new URL(c.req.url);
    const asked = (name: string, value: string) => (url.searchParams.get(name) ?? value) === value;
    const found = pipelines
      .of(project)
      .filter((each) => asked('source', each.source) && asked('status', pipelines.statusOf(each)));
    const { entries, headers } = numberedPage(found, url);
    return c.json(entries.map(listed), 200, headers);
  });
  app.get('/projects/:projectId/pipelines/:pipelineId/jobs', (c) => {
    const pipeline = pipelineOf(c);
    if (pipeline === undefined) return missing(c);
    const { entries, headers } = numberedPage(pipelines.jobsOf(pipeline), new URL(c.req.url));
    return c.json(
      entries.map((job) => jobEntity(job, instanceUrl, clock.nowMs())),
      200,
      headers,
    );
  });
  app.post('/projects/:projectId/pipelines/:pipelineId/cancel', (c) => {
    const pipeline = pipelineOf(c);
    if (pipeline === undefined) return missing(c);
    pipelines.cancel(pipeline);
    return c.json(shown(pipeline));
  });
  app.get('/projects/:projectId/jobs/:jobId/trace', (c) => {
    const job = book.job(Number(c.req.param('jobId')));
    return job === undefined || job.projectId !== Number(c.req.param('projectId'))
      ? missing(c)
      : c.text(job.trace ?? '');
  });
}

/** What only GraphQL tells of a job: GitLab's sentence about its failure, with the controller's reason in it. */
export function jobMessageRoute(app: Hono, token: string, book: JobBook): void {
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
    const job = book.job(id);
    if (job === undefined || job.projectPath !== variables.path) return c.json({ data: { project: null } });
    const detail = job.failureMessage ?? 'Please contact your administrator.';
    const failureMessage =
      job.failureReason === 'job_router_failure' ? `The Job Router failed to run this job. ${detail}` : null;
    return c.json({ data: { project: { job: { failureMessage } } } });
  });
}
