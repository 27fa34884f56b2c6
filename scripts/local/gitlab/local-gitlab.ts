import { isTerminal } from '../../../functions/core/gitlab/gitlab.ts';
import { machineClock, stoppable, type WallClock } from '../clock.ts';
import { serveOnLoopback } from '../loopback.ts';
import { jobHookBody } from './bodies.ts';
import { ControllerTokenBook, type LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import { PlaceBook } from './places.ts';
import { restApp } from './rest-app.ts';
import { type LocalCiProject, routerSideOf } from './runners.ts';
import { type GitLabState, LocalGitLabFaults, type LocalJob, type LocalRunner } from './state.ts';
import { type GitLabVersion, GroupHookBook, type HookFaultShares } from './webhooks.ts';

interface LocalGitLabOptions {
  readonly clock?: WallClock;
  /** Dates webhooks, where jobs live on a faster clock: receivers compare with the real time. @default `clock` */
  readonly wireClock?: Pick<WallClock, 'nowMs'>;
  readonly random: () => number;
  readonly token: string;
  readonly groupTokens?: ReadonlyMap<string, string>;
  readonly version?: GitLabVersion;
  readonly deliver?: (request: Request) => Promise<Response>;
  readonly hookFaults?: HookFaultShares;
  readonly controllers?: readonly LocalController[];
  readonly administration?: InstanceSettings;
  readonly projects?: readonly LocalCiProject[];
}

export type LocalGitLab = ReturnType<typeof createLocalGitLab>;

export function createLocalGitLab(options: LocalGitLabOptions) {
  const { version = '19.4', random, administration: settings = {}, projects = [] } = options;
  const instanceUrl = 'http://gitlab.localhost';
  const clock = stoppable(options.clock ?? machineClock);
  const { wireClock = clock, deliver = fetch, hookFaults = { lose: 0, repeat: 0 } } = options;
  const jobs = new Map<number, LocalJob>();
  const runners = new Map<number, LocalRunner>();
  const controllers = new Map(options.controllers?.map((controller) => [controller.id, controller]));
  const places = new PlaceBook(settings.groups);
  for (const project of projects) places.putProject(project);
  const groupHooks = new GroupHookBook({
    ...{ places, random, instanceUrl, version, settings, clock, deliver },
    ...{ nowMs: () => wireClock.nowMs(), faults: hookFaults },
  });
  const living = (id: number): LocalJob => {
    const job = jobs.get(id);
    if (job === undefined) throw new Error(`there is no job ${id}; create it first`);
    if (isTerminal(job.status))
      throw new Error(`job ${id} has ended with ${job.status}; it does not change any more`);
    return job;
  };
  const change = (job: LocalJob, changed: Partial<LocalJob>): void => {
    Object.assign(job, changed);
    void groupHooks.tell(job.projectPath, () => jobHookBody(job, clock.nowMs()));
  };
  const state: GitLabState = {
    ...{ clock, random, instanceUrl, version, token: options.token, settings, jobs, runners, places },
    ...{ faults: new LocalGitLabFaults(), groupTokens: options.groupTokens ?? new Map() },
    ...{ rest: { calls: 0 }, jobTokens: new Map(), ciProjects: projects, pipelines: new Map() },
    ...{ controllers, controllerTokens: new ControllerTokenBook(), groupHooks },
    create(newJob) {
      if (jobs.has(newJob.id)) throw new Error(`job ${newJob.id} is there already; ids are unique`);
      const job: LocalJob = { ...newJob, status: 'created', createdAtMs: clock.nowMs() };
      jobs.set(job.id, job);
      change(job, {});
      change(job, { status: 'pending', queuedAtMs: clock.nowMs() });
      return job;
    },
    start(jobId, runner) {
      const job = living(jobId);
      // An administrator's settings of a runner stay; a job knows only its id and tags.
      if (!runners.has(runner.id)) runners.set(runner.id, runner);
      change(job, { status: 'running', startedAtMs: clock.nowMs(), runner });
    },
    end(jobId, ending) {
      const job = living(jobId);
      if (ending.status === 'failed') {
        job.failureReason = ending.failureReason ?? 'script_failure';
        if (ending.message !== undefined) job.failureMessage = ending.message;
      }
      change(job, { status: ending.status, finishedAtMs: clock.nowMs() });
    },
  };
  const rest = restApp(state);
  const { create, start, end, controllerTokens, faults } = state;

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
    routerSide: routerSideOf(state),
    job: (jobId: number): Readonly<LocalJob> | undefined => jobs.get(jobId),
    jobs: (): Iterable<Readonly<LocalJob>> => jobs.values(),
    counters: { rest: state.rest },
    fetch: (async (input, init) => {
      const request = new Request(input, init);
      return Promise.race([rest.fetch(request), rejectedOnAbort(request.signal)]);
    }) satisfies typeof fetch,
    listen: (port?: number) => serveOnLoopback(rest, port),
    stop: () => clock.stop(),
  };
}

const rejectedOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
