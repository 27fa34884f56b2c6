import { isTerminal, type JobStatus } from '../../../functions/core/gitlab/gitlab.ts';
import { machineClock, stoppable, type WallClock } from '../clock.ts';
import { jobHookBody } from './bodies.ts';
import { ControllerTokenBook, type LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import { PlaceBook } from './places.ts';
import type { LocalCiProject, LocalPipeline } from './runners.ts';
import { type GitLabVersion, GroupHookBook, type HookFaultShares } from './webhooks.ts';

export interface LocalGitLabOptions {
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

export type GitLabState = ReturnType<typeof newGitLabState>;

export function newGitLabState(options: LocalGitLabOptions) {
  const { version = '19.4', random, token, administration: settings = {}, projects = [] } = options;
  const instanceUrl = 'http://gitlab.localhost';
  const clock = stoppable(options.clock ?? machineClock);
  const { wireClock = clock, deliver = fetch, hookFaults = { lose: 0, repeat: 0 } } = options;
  const jobs = new Map<number, LocalJob>();
  const runners = new Map<number, LocalRunner>();
  const places = new PlaceBook(settings.groups);
  for (const project of projects) places.putProject(project);
  const groupHooks = new GroupHookBook({
    ...{ places, random, instanceUrl, version, settings, clock, deliver },
    ...{ nowMs: () => wireClock.nowMs(), faults: hookFaults },
  });
  const liveJob = (id: number): LocalJob => {
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
  return {
    ...{ clock, random, instanceUrl, version, token, settings, jobs, runners, places, groupHooks },
    faults: new LocalGitLabFaults(),
    groupTokens: options.groupTokens ?? new Map<string, string>(),
    rest: { calls: 0 },
    jobTokens: new Map<number, string>(),
    ciProjects: projects,
    pipelines: new Map<number, LocalPipeline>(),
    controllers: new Map(options.controllers?.map((controller) => [controller.id, controller])),
    controllerTokens: new ControllerTokenBook(),
    create(newJob: NewJob): Readonly<LocalJob> {
      if (jobs.has(newJob.id)) throw new Error(`job ${newJob.id} is there already; ids are unique`);
      const job: LocalJob = { ...newJob, status: 'created', createdAtMs: clock.nowMs() };
      jobs.set(job.id, job);
      change(job, {});
      change(job, { status: 'pending', queuedAtMs: clock.nowMs() });
      return job;
    },
    start(jobId: number, runner: LocalRunner): void {
      const job = liveJob(jobId);
      // An administrator's settings of a runner stay; a job knows only its id and tags.
      if (!runners.has(runner.id)) runners.set(runner.id, runner);
      change(job, { status: 'running', startedAtMs: clock.nowMs(), runner });
    },
    end(jobId: number, ending: JobEnding): void {
      const job = liveJob(jobId);
      if (ending.status === 'failed') {
        job.failureReason = ending.failureReason ?? 'script_failure';
        if (ending.message !== undefined) job.failureMessage = ending.message;
      }
      change(job, { status: ending.status, finishedAtMs: clock.nowMs() });
    },
  };
}

export interface LocalRunner {
  readonly id: number;
  readonly description?: string;
  readonly type?: 'instance_type' | 'group_type' | 'project_type';
  readonly tags?: readonly string[];
  readonly paused?: boolean;
  readonly status?: 'online' | 'offline' | 'stale' | 'never_contacted';
  /** @default true for a runner without tags */
  readonly runUntagged?: boolean;
  readonly maximumTimeoutSeconds?: number;
  readonly maintenanceNote?: string;
  /** The user whose token created it; null: a registration token. @default null */
  readonly createdBy?: number | null;
  readonly ownerId?: number;
  readonly token?: string;
  readonly managers?: readonly LocalManager[];
}

export interface LocalManager {
  readonly systemId: string;
  readonly version: string;
  readonly platform?: string;
  readonly architecture?: string;
  readonly status?: string;
  readonly contactedAtMs?: number;
}

export interface NewJob {
  readonly id: number;
  readonly projectId: number;
  readonly projectPath: string;
  readonly name: string;
  readonly stage?: string;
  readonly pipelineId?: number;
  readonly userId?: number;
  readonly ref?: string;
  readonly environment?: string;
  readonly tags?: readonly string[];
  readonly retryCount?: number;
  readonly script?: readonly string[];
}

export interface LocalJob extends NewJob {
  status: JobStatus;
  readonly createdAtMs: number;
  queuedAtMs?: number;
  startedAtMs?: number;
  finishedAtMs?: number;
  runner?: LocalRunner;
  failureReason?: string;
  failureMessage?: string;
  trace?: string;
}

export type JobEnding =
  | { readonly status: 'success' | 'canceled' }
  | { readonly status: 'failed'; readonly failureReason?: string; readonly message?: string };

export const nextId = (known: ReadonlyMap<number, unknown>): number => Math.max(0, ...known.keys()) + 1;

export const sortedRunners = ({ runners }: GitLabState): readonly LocalRunner[] =>
  [...runners.values()].sort((a, b) => a.id - b.id);

type RestFault = { readonly status: number; readonly retryAfterSeconds?: number } | 'stall';

class LocalGitLabFaults {
  refuseKeyset = false;
  #rest: { fault: RestFault; left: number }[] = [];

  answerRest(fault: RestFault, calls = 1): void {
    this.#rest.push({ fault, left: calls });
  }

  clear(): void {
    this.refuseKeyset = false;
    this.#rest = [];
  }

  takeRest(): RestFault | undefined {
    const [first] = this.#rest;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) this.#rest.shift();
    return first.fault;
  }
}
