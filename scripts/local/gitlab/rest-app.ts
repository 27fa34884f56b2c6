import { type Context, Hono } from 'hono';
import { isTerminal, type JobList } from '../../../functions/core/gitlab/index.ts';
import type { WallClock } from '../clock/clock.ts';
import type { Administration } from './administration.ts';
import { type ControllerTokenBook, controllerAdminRoutes } from './controller-admin-routes.ts';
import { type ControllerBook, controllerRoutes } from './controller-routes.ts';
import type { LocalGitLabFaults } from './faults.ts';
import type { GroupHookBook } from './group-hook-book.ts';
import { groupHookRoutes } from './group-hook-routes.ts';
import { DISCOVERY_PATH, instanceRoutes } from './instance-routes.ts';
import type { LocalJob } from './job.ts';
import type { JobBook } from './job-book.ts';
import { noteRoutes } from './note-routes.ts';
import { keysetPage, numberedPage } from './pagination.ts';
import type { PipelineBook } from './pipeline-book.ts';
import { jobMessageRoute, pipelineRoutes } from './pipeline-routes.ts';
import type { PlaceBook } from './place-book.ts';
import { placeRoutes } from './place-routes.ts';
import { jobEntity, jobOfRunnerEntity } from './rest-bodies.ts';
import type { RunnerJobBook } from './runner-job-book.ts';
import { RUNNER_PATH, runnerJobRoutes } from './runner-job-routes.ts';
import { runnerRoutes } from './runner-routes.ts';

interface RestParts {
  readonly book: JobBook;
  readonly faults: LocalGitLabFaults;
  readonly clock: WallClock;
  /** An administrator's. */
  readonly token: string;
  /** Paths of groups by their tokens, of role Developer. */
  readonly groupTokens: ReadonlyMap<string, string>;
  /** Makes a new job of an ended one; its id. */
  readonly retry: (job: LocalJob) => number;
  readonly instanceUrl: string;
  readonly counters: RestCounters;
  readonly controllers: ControllerBook;
  readonly controllerTokens: ControllerTokenBook;
  readonly administration: Administration;
  readonly groupHooks: GroupHookBook;
  readonly pipelines: PipelineBook;
  readonly runnerJobs: RunnerJobBook;
  readonly places: PlaceBook;
  /** [0, 1): makes tokens. */
  readonly random: () => number;
  /** What a test of a webhook sends. */
  readonly newestJob: (groupPath: string) => Readonly<Record<string, unknown>> | undefined;
}

export interface RestCounters {
  /** All that arrived, refused ones included. */
  calls: number;
}

/** The part of GitLab's REST API that tells of jobs and runners. */
export function restApp(parts: RestParts): Hono {
  const { book, faults, clock, instanceUrl } = parts;
  const root = new Hono();
  const app = root.basePath('/api/v4');

  app.use(async (c, next) => {
    parts.counters.calls += 1;
    const fault = faults.takeRest(clock.nowMs());
    if (fault === 'stall') return new Promise<Response>(() => {});
    if (fault !== undefined) return refusal(fault.status, fault.retryAfterSeconds);
    const given = c.req.header('private-token') ?? c.req.header('authorization')?.replace(/^Bearer /i, '');
    // Runners ask with tokens of their own.
    const isRunners = c.req.path.endsWith(DISCOVERY_PATH) || RUNNER_PATH.test(c.req.path);
    const { expiresAt } = parts.administration.setting;
    const isTaken = given === parts.token && !(expiresAt && Date.parse(expiresAt) <= clock.nowMs());
    const isGroups = c.req.path.endsWith('/retry') && parts.groupTokens.has(given ?? '');
    if (!isTaken && !isRunners && !isGroups) return c.json({ message: '401 Unauthorized' }, 401);
    return next();
  });

  app.get('/projects/:projectId/jobs/:jobId', (c) => {
    const job = book.job(Number(c.req.param('jobId')));
    if (job === undefined || job.projectId !== Number(c.req.param('projectId'))) return notFound(c);
    return c.json(jobEntity(job, instanceUrl, clock.nowMs()));
  });

  const retried = new Set<number>();
  app.post('/projects/:projectId/jobs/:jobId/retry', (c) => {
    const job = book.job(Number(c.req.param('jobId')));
    const path = parts.groupTokens.get(c.req.header('private-token') ?? '');
    // To whom may not see a private project, it is not there.
    const isSeen = path === undefined || job?.projectPath.startsWith(`${path}/`);
    if (job === undefined || !isSeen || job.projectId !== Number(c.req.param('projectId')))
      return notFound(c);
    if (!isTerminal(job.status) || retried.has(job.id))
      return c.json({ message: '403 Forbidden - Job is not retryable' }, 403);
    retried.add(job.id);
    const made = book.job(parts.retry(job));
    return made === undefined ? notFound(c) : c.json(jobEntity(made, instanceUrl, clock.nowMs()), 201);
  });

  const listJobs = (c: Context, list: JobList, entity: typeof jobEntity): Response => {
    const url = new URL(c.req.url);
    const keyset = c.req.query('pagination') === 'keyset';
    if (keyset && faults.refuseKeyset) {
      return c.json({ error: 'Keyset pagination is not yet available for this type of request' }, 405);
    }
    const ascending = book.idsOn(list, c.req.query('status') ?? c.req.query('scope[]'));
    const page = keyset ? keysetPage(ascending, url) : numberedPage(ascending.toReversed(), url);
    const jobs = page.entries.flatMap((id) => book.job(id) ?? []);
    return c.json(
      jobs.map((job) => entity(job, instanceUrl, clock.nowMs())),
      200,
      page.headers,
    );
  };
  app.get('/projects/:projectId/jobs', (c) =>
    listJobs(c, `projects/${Number(c.req.param('projectId'))}`, jobEntity),
  );
  app.get('/runners/:runnerId/jobs', (c) => {
    const runnerId = Number(c.req.param('runnerId'));
    if (book.runner(runnerId) === undefined) return notFound(c);
    return listJobs(c, `runners/${runnerId}`, jobOfRunnerEntity);
  });

  instanceRoutes(app, parts.administration, (token) => parts.runnerJobs.runnerOf(token) !== undefined);
  controllerAdminRoutes(app, parts.controllerTokens, {
    book: parts.controllers,
    administration: parts.administration,
    clock,
    random: parts.random,
    runners: () => book.runners(),
  });
  runnerRoutes(app, book, parts.random);
  controllerRoutes(app, parts.controllers);
  groupHookRoutes(app, parts.groupHooks, parts.administration, parts.newestJob);
  pipelineRoutes(app, parts);
  placeRoutes(app, parts.places, parts.administration, instanceUrl);
  noteRoutes(app, []);
  runnerJobRoutes(app, parts.runnerJobs, book);
  jobMessageRoute(root, parts.token, book);
  root.notFound(notFound);
  return root;
}

const notFound = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

/** 429 comes as text, 5xx often as a page of the proxy before GitLab: neither is JSON. */
const refusal = (status: number, retryAfterSeconds: number | undefined): Response =>
  new Response(status === 429 ? 'Retry later\n' : '<html>something went wrong</html>', {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  });
