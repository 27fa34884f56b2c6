import { type JobStatus, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { machineClock, stoppable, type WallClock } from '../clock/clock.ts';
import { type LoopbackServer, serveOnLoopback } from '../loopback-server.ts';
import type { RouterGitLab } from '../router/router-gitlab.ts';
import { Administration, type AdministrationSetting } from './administration.ts';
import { ControllerTokenBook } from './controller-admin-routes.ts';
import { ControllerBook, type LocalController } from './controller-routes.ts';
import { type FaultOptions, LocalGitLabFaults } from './faults.ts';
import { GroupHookBook } from './group-hook-book.ts';
import { jobHookBody } from './hook-body.ts';
import { type GitLabVersion, hookRequester, uuidFrom } from './hook-request.ts';
import { type HookCounters, HookSender, type HookTransport } from './hook-sender.ts';
import type { JobEnding, LocalJob, LocalRunner, NewJob } from './job.ts';
import { JobBook } from './job-book.ts';
import { type JobLifeMoves, type LocalCiProject, PipelineBook } from './pipeline-book.ts';
import { PlaceBook } from './place-book.ts';
import { type RestCounters, restApp } from './rest-app.ts';
import { routerSide } from './router-side.ts';
import { RunnerJobBook } from './runner-job-book.ts';

export interface LocalGitLabOptions {
  /** @default the machine's own */
  readonly clock?: WallClock;
  /**
   * What deliveries are dated by and time out on, where jobs live on a faster clock: receivers compare the date with the
   * real time. @default `clock`
   */
  readonly wireClock?: WallClock;
  /** [0, 1): chooses faults and ids. */
  readonly random: () => number;
  /** What REST callers must send as `PRIVATE-TOKEN`. */
  readonly token: string;
  /** Tokens of groups: role Developer, for the jobs below their path alone. By token. @default none */
  readonly groupTokens?: ReadonlyMap<string, string>;
  /** Where job webhooks go. None are sent without it, without `hookFor` and without `receive`. */
  readonly hookUrl?: string;
  /** The webhook of a project's top-level group. Instead of `hookUrl`. */
  readonly hookFor?: (projectPath: string) => { readonly url: string; readonly signingToken: string };
  /** @default '19.4' */
  readonly version?: GitLabVersion;
  /** `whsec_…`: signs deliveries; only since 19.0. */
  readonly signingToken?: string;
  /** Sent in `X-Gitlab-Token`. */
  readonly secretToken?: string;
  /** Carries deliveries to `hookUrl`; an app's own `fetch` needs no socket. @default fetch */
  readonly deliver?: (request: Request) => Promise<Response>;
  /** Takes bodies without HTTP and signature around them, for simulations of whole months. Instead of `hookUrl`. */
  readonly receive?: (body: Readonly<Record<string, unknown>>, webhookId: string) => Promise<void>;
  /** Statuses that webhooks tell of. @default all, as GitLab does */
  readonly hookStatuses?: readonly JobStatus[];
  /** Told the body of every delivery that did not come through, and why is no matter: GitLab does not try again. */
  readonly onUndelivered?: (body: Readonly<Record<string, unknown>>) => void;
  /** In payloads and in `X-Gitlab-Instance`. @default 'http://gitlab.localhost' */
  readonly instanceUrl?: string;
  readonly faults?: FaultOptions;
  /** Its runner controllers. @default none */
  readonly controllers?: readonly LocalController[];
  /** Licence, flags, settings, groups. Groups' own webhooks are sent without any of `faults`. */
  readonly administration?: AdministrationSetting;
  /** Those whose pipelines can be started. @default none */
  readonly projects?: readonly LocalCiProject[];
}

/** How a job lives by itself once it waits for a runner. */
interface JobLife {
  readonly runner: LocalRunner;
  /** @default 0 */
  readonly startsInMs?: number;
  readonly runsMs: number;
  /** @default success */
  readonly ending?: JobEnding;
}

/** A stand-in for GitLab's jobs: their life, the REST API that tells of them, and the webhooks about them. */
export interface LocalGitLab {
  /** Makes a job that waits for a runner. @throws {Error} if its id is taken */
  create(job: NewJob): Readonly<LocalJob>;
  /** A runner takes it. @throws {Error} if there is no such job or it has ended */
  start(jobId: number, runner: LocalRunner): void;
  /** Likewise; a job that never started can only be canceled in GitLab. */
  end(jobId: number, ending: JobEnding): void;
  /** As the job router does when a controller says no: it runs for an instant and fails. */
  reject(jobId: number, runner: LocalRunner): void;
  /** Starts and ends the job on the clock, unless something else ended it before. */
  play(jobId: number, life: JobLife): void;
  /** As if the project were deleted: 404 from now on, and no webhook about it. */
  forget(jobId: number): void;
  addRunner(runner: LocalRunner): void;
  /** As an administrator changes one. @throws {Error} if there is none of this id */
  changeController(id: number, change: Partial<Omit<LocalController, 'id'>>): void;
  controller(id: number): LocalController | undefined;
  /** Tokens that administrators made. */
  readonly controllerTokens: ControllerTokenBook;
  readonly groupHooks: GroupHookBook;
  /** How a job router on this machine asks it. */
  readonly routerSide: RouterGitLab;
  /** Groups, projects and personal namespaces; a change is what GitLab says from then on. */
  readonly places: PlaceBook;
  job(jobId: number): Readonly<LocalJob> | undefined;
  /** What GitLab says ran, and everything else it knows. */
  jobs(): Iterable<Readonly<LocalJob>>;
  readonly faults: LocalGitLabFaults;
  readonly counters: { readonly hooks: HookCounters; readonly rest: RestCounters };
  /** The REST API without a socket; any host in the address will do. */
  readonly fetch: typeof fetch;
  /** Serves the REST API on loopback. @param port - @default any free one */
  listen(port?: number): Promise<LoopbackServer>;
  /** Resolves when no webhook is on its way or to be sent later. */
  hooksIdle(): Promise<void>;
  /** Calls off everything that is still to come. */
  stop(): void;
}

/** A rejected job shows as running for about this long. */
const REJECTED_MS = 90;

export function createLocalGitLab(options: LocalGitLabOptions): LocalGitLab {
  const clock = stoppable(options.clock ?? machineClock);
  const wireClock = options.wireClock === undefined ? clock : stoppable(options.wireClock);
  const instanceUrl = options.instanceUrl ?? 'http://gitlab.localhost';
  const book = new JobBook();
  const faults = new LocalGitLabFaults(options.faults);
  const send = wayOfHooks(options, instanceUrl);
  const hooks = new HookSender({
    send: send ?? nowhere,
    faults,
    clock,
    wireClock,
    random: options.random,
    onUndelivered: ({ body }) => options.onUndelivered?.(body),
  });
  const counters = { hooks: hooks.counters, rest: { calls: 0 } };
  const version = options.version ?? '19.4';
  const controllers = new ControllerBook(options.controllers ?? [], version);
  const controllerTokens = new ControllerTokenBook();
  const administration = new Administration(options.administration ?? {}, version);
  const places = new PlaceBook(administration.setting.groups);
  for (const project of options.projects ?? []) places.putProject(project);
  const groupHooks = new GroupHookBook({
    administration,
    places,
    clock: wireClock,
    random: options.random,
    instanceUrl,
    deliver: options.deliver ?? fetch,
  });
  const life: JobLifeMoves = {
    create: (newJob) => create(newJob),
    start: (jobId, runner) => start(jobId, runner),
    end: (jobId, ending) => end(jobId, ending),
  };
  const pipelines = new PipelineBook(book, life, options.projects ?? []);
  const runnerJobs = new RunnerJobBook(book, life, options.random);
  const rest = restApp({
    book,
    faults,
    clock,
    token: options.token,
    groupTokens: options.groupTokens ?? new Map(),
    retry: (job) => create(retryOf(job, book)).id,
    instanceUrl,
    counters: counters.rest,
    controllers,
    controllerTokens,
    administration,
    groupHooks,
    pipelines,
    runnerJobs,
    places,
    random: options.random,
    newestJob: (groupPath) => {
      const newest = [...book.jobs()].filter((job) => isIn(job, groupPath)).at(-1);
      return newest === undefined ? undefined : jobHookBody(newest, instanceUrl, clock.nowMs());
    },
  });
  const told = options.hookStatuses === undefined ? undefined : new Set(options.hookStatuses);

  const tell = (job: LocalJob): void => {
    void groupHooks.tell(job.projectPath, () => jobHookBody(job, instanceUrl, clock.nowMs()));
    if (send === undefined || told?.has(job.status) === false) return;
    hooks.tell(job.id, jobHookBody(job, instanceUrl, clock.nowMs()));
  };
  const create = (newJob: NewJob): Readonly<LocalJob> => {
    const job = book.create(newJob, clock.nowMs());
    tell(job);
    book.queue(job, clock.nowMs());
    tell(job);
    return job;
  };
  const start = (jobId: number, runner: LocalRunner): void => {
    const job = book.living(jobId);
    book.start(job, runner, clock.nowMs());
    tell(job);
  };
  const end = (jobId: number, ending: JobEnding): void => {
    const job = book.living(jobId);
    book.end(job, ending, clock.nowMs());
    tell(job);
  };
  const endIfRunning = (jobId: number, ending: JobEnding): void => {
    if (book.job(jobId)?.status === 'running') end(jobId, ending);
  };

  return {
    create,
    start,
    end,
    reject(jobId, runner) {
      start(jobId, runner);
      clock.after(REJECTED_MS, () =>
        endIfRunning(jobId, { status: 'failed', failureReason: REJECTED_BY_ROUTER }),
      );
    },
    play(jobId, life) {
      clock.after(life.startsInMs ?? 0, () => {
        if (book.job(jobId)?.status !== 'pending') return;
        start(jobId, life.runner);
        clock.after(life.runsMs, () => endIfRunning(jobId, life.ending ?? { status: 'success' }));
      });
    },
    forget(jobId) {
      const job = book.job(jobId);
      if (job !== undefined) book.forget(job);
    },
    addRunner: (runner) => book.addRunner(runner),
    changeController: (id, change) => controllers.change(id, change),
    controller: (id) => controllers.find(id),
    controllerTokens,
    groupHooks,
    routerSide: routerSide(controllers, controllerTokens, runnerJobs, clock),
    places,
    job: (jobId) => book.job(jobId),
    jobs: () => book.jobs(),
    faults,
    counters,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      return Promise.race([rest.fetch(request), aborted(request.signal)]);
    },
    listen: (port) => serveOnLoopback(rest, port),
    hooksIdle: () => hooks.idle(),
    stop() {
      clock.stop();
      wireClock.stop();
    },
  };
}

/** What was asked for, and nothing of what became of it but that it was run before. */
function retryOf(job: LocalJob, book: JobBook): NewJob {
  const { status: _s, createdAtMs: _c, queuedAtMs: _q, startedAtMs: _t, finishedAtMs: _f, ...rest } = job;
  const { runner: _r, failureReason: _w, failureMessage: _m, trace: _o, ...asked } = rest;
  const id = Math.max(...[...book.jobs()].map((other) => other.id)) + 1;
  return { ...asked, id, retryCount: (job.retryCount ?? 0) + 1 };
}

/** Undefined: nobody wants to hear of jobs. */
function wayOfHooks(options: LocalGitLabOptions, instanceUrl: string): HookTransport | undefined {
  const { receive, hookUrl, hookFor, deliver = fetch } = options;
  if (receive !== undefined) {
    return async ({ body, webhookId }) => {
      await receive(body, webhookId);
      return true;
    };
  }
  if (hookUrl === undefined && hookFor === undefined) return undefined;
  const hookId = uuidFrom(options.random);
  const requesterTo = (url: string, secrets: Parameters<typeof hookRequester>[2]) =>
    hookRequester(url, instanceUrl, secrets, hookId, options.version);
  const fixed = requesterTo(hookUrl ?? '', options);
  return async (message, sentAtMs, signal) => {
    const { project } = message.body;
    const hook = hookFor?.(isRecord(project) ? String(project.path_with_namespace) : '');
    const request = hook === undefined ? fixed : requesterTo(hook.url, hook);
    const response = await deliver(request(message, sentAtMs, signal));
    await response.body?.cancel();
    return response.ok;
  };
}

const isIn = (job: LocalJob, groupPath: string): boolean => job.projectPath.startsWith(`${groupPath}/`);

const nowhere: HookTransport = async () => true;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
