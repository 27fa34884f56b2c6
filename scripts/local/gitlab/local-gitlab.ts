import { type Context, Hono } from 'hono';
import { isTerminal } from '../../../functions/core/gitlab/gitlab.ts';
import { serveOnLoopback } from '../loopback.ts';
import { jobEntity, jobOfRunnerEntity } from './bodies.ts';
import { controllerRoutes, type LocalController } from './controllers.ts';
import {
  DISCOVERY_PATH,
  instanceRoutes,
  keysetPage,
  listPage,
  notFound,
  numberedPage,
  routesBelow,
} from './instance.ts';
import { placeRoutes } from './places.ts';
import {
  jobMessageRoute,
  newRouterSide,
  pipelineRoutes,
  RUNNER_PATH,
  runnerJobRoutes,
  runnerRoutes,
} from './runners.ts';
import {
  type GitLabState,
  type LocalGitLabOptions,
  type LocalJob,
  type LocalRunner,
  type NewJob,
  newGitLabState,
  nextId,
} from './state.ts';
import { groupHookRoutes } from './webhooks.ts';

export type LocalGitLab = ReturnType<typeof createLocalGitLab>;

export function createLocalGitLab(options: LocalGitLabOptions) {
  const state = newGitLabState(options);
  const rest = restApp(state);
  const { create, start, end, controllerTokens, faults, groupHooks, places } = state;
  const { jobs, runners, controllers } = state;

  return {
    ...{ create, start, end, controllerTokens, faults, groupHooks, places },
    /** Removes the job as if its project had been deleted: 404, and no webhook. */
    forget: (jobId: number) => void jobs.delete(jobId),
    addRunner: (runner: LocalRunner) => void runners.set(runner.id, runner),
    changeController(id: number, changed: Partial<Omit<LocalController, 'id'>>): void {
      const controller = controllers.get(id);
      if (controller === undefined) throw new Error(`there is no runner controller ${id}`);
      controllers.set(id, { ...controller, ...changed });
    },
    controller: (id: number) => controllers.get(id),
    routerSide: newRouterSide(state),
    job: (jobId: number): Readonly<LocalJob> | undefined => jobs.get(jobId),
    jobs: (): Iterable<Readonly<LocalJob>> => jobs.values(),
    counters: { rest: state.rest },
    fetch: (async (input, init) => {
      const request = new Request(input, init);
      return Promise.race([rest.fetch(request), rejectedOnAbort(request.signal)]);
    }) satisfies typeof fetch,
    listen: (port?: number) => serveOnLoopback(rest, port),
    stop: () => state.clock.stop(),
  };
}

const rejectedOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

function restApp(state: GitLabState): Hono {
  const { faults, clock, token, settings, groupTokens } = state;
  const root = new Hono();
  const app = root.basePath('/api/v4');

  app.use(async (c, next) => {
    state.rest.calls += 1;
    const fault = faults.takeRest();
    if (fault === 'stall') return new Promise<Response>(() => {});
    if (fault !== undefined) return refusal(fault.status, fault.retryAfterSeconds);
    const given = c.req.header('private-token') ?? c.req.header('authorization')?.replace(/^Bearer /i, '');
    const isExpired = settings.expiresAt && Date.parse(settings.expiresAt) <= clock.nowMs();
    const isRunners = c.req.path.endsWith(DISCOVERY_PATH) || RUNNER_PATH.test(c.req.path);
    const isGroups = c.req.path.endsWith('/retry') && groupTokens.has(given ?? '');
    if (!(given === token && !isExpired) && !isRunners && !isGroups)
      return c.json({ message: '401 Unauthorized' }, 401);
    return next();
  });

  jobRoutes(app, state);
  instanceRoutes(app, state);
  controllerRoutes(app, state);
  runnerRoutes(app, state);
  groupHookRoutes(app, state);
  pipelineRoutes(app, state);
  placeRoutes(app, state);
  runnerJobRoutes(app, state);
  jobMessageRoute(root, state);
  root.notFound(notFound);
  return root;
}

function jobRoutes(app: Hono, state: GitLabState): void {
  const { jobs, runners, clock, instanceUrl, groupTokens, create, faults } = state;
  const entity = (job: LocalJob): object => jobEntity(job, instanceUrl, clock.nowMs());
  const route = routesBelow(app, '/projects/:projectId/jobs/:jobId', (c) => {
    const job = jobs.get(Number(c.req.param('jobId')));
    return job?.projectId === Number(c.req.param('projectId')) ? job : undefined;
  });
  route('GET', '', (c, job) => c.json(entity(job)));

  const retried = new Set<number>();
  route('POST', '/retry', (c, job) => {
    const path = groupTokens.get(c.req.header('private-token') ?? '');
    // GitLab answers 404 for a private project that the caller may not see.
    if (path !== undefined && !job.projectPath.startsWith(`${path}/`)) return notFound(c);
    if (!isTerminal(job.status) || retried.has(job.id))
      return c.json({ message: '403 Forbidden - Job is not retryable' }, 403);
    retried.add(job.id);
    return c.json(entity(create(retryOf(job, nextId(jobs)))), 201);
  });

  const listJobs = (c: Context, isListed: (job: LocalJob) => boolean, listed: typeof jobEntity): Response => {
    const isKeyset = c.req.query('pagination') === 'keyset';
    if (isKeyset && faults.refuseKeyset)
      return c.json({ error: 'Keyset pagination is not yet available for this type of request' }, 405);
    const status = c.req.query('status') ?? c.req.query('scope[]') ?? '';
    const newestFirst = [...jobs.values()]
      .filter((job) => isListed(job) && (status === '' || job.status === status))
      .sort((a, b) => b.id - a.id);
    const nowMs = clock.nowMs();
    const paged = isKeyset ? keysetPage : numberedPage;
    return listPage(c, newestFirst, (job) => listed(job, instanceUrl, nowMs), paged);
  };
  app.get('/projects/:projectId/jobs', (c) => {
    const projectId = Number(c.req.param('projectId'));
    return listJobs(c, (job) => job.projectId === projectId, jobEntity);
  });
  app.get('/runners/:runnerId/jobs', (c) => {
    const runnerId = Number(c.req.param('runnerId'));
    if (!runners.has(runnerId)) return notFound(c);
    return listJobs(c, (job) => job.runner?.id === runnerId, jobOfRunnerEntity);
  });
}

function retryOf(job: LocalJob, id: number): NewJob {
  const { status: _s, createdAtMs: _c, queuedAtMs: _q, startedAtMs: _t, finishedAtMs: _f, ...rest } = job;
  const { runner: _r, failureReason: _w, failureMessage: _m, trace: _o, ...newJob } = rest;
  return { ...newJob, id, retryCount: (job.retryCount ?? 0) + 1 };
}

/** GitLab sends 429 as text, and 5xx often as a page of the proxy in front: neither is JSON. */
const refusal = (status: number, retryAfterSeconds: number | undefined): Response =>
  new Response(status === 429 ? 'Retry later\n' : '<html>something went wrong</html>', {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  });
