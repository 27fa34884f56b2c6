import { isTerminal, type JobList, type JobStatus } from '../../../functions/core/gitlab/gitlab.ts';
import type { WallClock } from '../clock.ts';
import type { ControllerTokenBook, LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import type { PlaceBook } from './places.ts';
import type { LocalCiProject, LocalPipeline } from './runners.ts';
import type { GitLabVersion, GroupHookBook } from './webhooks.ts';

/** Everything the local GitLab knows. Each route file reads and changes its part. */
export interface GitLabState extends JobLife {
  readonly clock: WallClock;
  /** [0, 1): makes tokens and ids. */
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly version: GitLabVersion;
  /** An administrator's token. */
  readonly token: string;
  /** Group paths by the group's token, which has the role Developer. */
  readonly groupTokens: ReadonlyMap<string, string>;
  readonly settings: InstanceSettings;
  readonly faults: LocalGitLabFaults;
  /** REST calls that arrived, refused ones included. */
  readonly rest: { calls: number };
  readonly jobs: JobBook;
  /** Tokens of running jobs, by job id. */
  readonly jobTokens: Map<number, string>;
  /** Projects whose pipelines can be started. */
  readonly ciProjects: readonly LocalCiProject[];
  readonly pipelines: Map<number, LocalPipeline>;
  readonly places: PlaceBook;
  readonly controllers: Map<number, LocalController>;
  readonly controllerTokens: ControllerTokenBook;
  readonly groupHooks: GroupHookBook;
}

/** Changes of a job that webhooks report. */
export interface JobLife {
  /** Creates a pending job. @throws {Error} if its id is taken */
  create(job: NewJob): Readonly<LocalJob>;
  /** Starts a job on a runner. @throws {Error} if the job does not exist or has ended */
  start(jobId: number, runner: LocalRunner): void;
  /** Ends a job. @throws {Error} if the job does not exist or has ended */
  end(jobId: number, ending: JobEnding): void;
}

export interface LocalRunner {
  readonly id: number;
  readonly description?: string;
  /** @default 'instance_type' */
  readonly type?: 'instance_type' | 'group_type' | 'project_type';
  readonly tags?: readonly string[];
  /** @default false */
  readonly paused?: boolean;
  /** @default 'online' */
  readonly status?: 'online' | 'offline' | 'stale' | 'never_contacted';
  /** @default true for a runner without tags */
  readonly runUntagged?: boolean;
  readonly maximumTimeoutSeconds?: number;
  readonly maintenanceNote?: string;
  /** The user whose token created it; null: a registration token. @default null */
  readonly createdBy?: number | null;
  /** The group or project it belongs to. */
  readonly ownerId?: number;
  /** Authenticates its requests for jobs. @default none: it never asks */
  readonly token?: string;
  /** Processes under its token. @default none */
  readonly managers?: readonly LocalManager[];
}

export interface LocalManager {
  readonly systemId: string;
  readonly version: string;
  /** @default 'linux' */
  readonly platform?: string;
  /** @default 'amd64' */
  readonly architecture?: string;
  /** @default 'online' */
  readonly status?: string;
  readonly contactedAtMs?: number;
}

/** A job as a pipeline creates it. */
export interface NewJob {
  readonly id: number;
  readonly projectId: number;
  /** `group/subgroup/project`. */
  readonly projectPath: string;
  readonly name: string;
  /** @default 'test' */
  readonly stage?: string;
  /** @default the job's id */
  readonly pipelineId?: number;
  /** @default 1 */
  readonly userId?: number;
  /** @default 'main' */
  readonly ref?: string;
  readonly environment?: string;
  /** The job's own tags. */
  readonly tags?: readonly string[];
  /** Earlier runs of this job. @default 0 */
  readonly retryCount?: number;
  /** Lines a runner would execute. @default none */
  readonly script?: readonly string[];
}

export interface LocalJob extends NewJob {
  status: JobStatus;
  readonly createdAtMs: number;
  queuedAtMs?: number;
  startedAtMs?: number;
  finishedAtMs?: number;
  /** Set once a runner took it. */
  runner?: LocalRunner;
  failureReason?: string;
  failureMessage?: string;
  trace?: string;
}

export type JobEnding =
  | { readonly status: 'success' | 'canceled' }
  | { readonly status: 'failed'; readonly failureReason?: string; readonly message?: string };

export class JobBook {
  readonly #jobs = new Map<number, LocalJob>();
  readonly #runners = new Map<number, LocalRunner>();
  readonly #lists = new Map<JobList, Set<LocalJob>>();

  /** @throws {Error} if the id is taken. */
  create(job: NewJob, nowMs: number): LocalJob {
    if (this.#jobs.has(job.id)) throw new Error(`job ${job.id} is there already; ids are unique`);
    const created: LocalJob = { ...job, status: 'created', createdAtMs: nowMs };
    this.#jobs.set(job.id, created);
    this.#list(created);
    return created;
  }

  start(job: LocalJob, runner: LocalRunner, nowMs: number): void {
    Object.assign(job, { status: 'running', startedAtMs: nowMs, runner });
    // An administrator's settings of a runner stay; a job knows only its id and tags.
    if (!this.#runners.has(runner.id)) this.addRunner(runner);
    this.#list(job);
  }

  end(job: LocalJob, ending: JobEnding, nowMs: number): void {
    Object.assign(job, { status: ending.status, finishedAtMs: nowMs });
    if (ending.status === 'failed') {
      job.failureReason = ending.failureReason ?? 'script_failure';
      if (ending.message !== undefined) job.failureMessage = ending.message;
    }
  }

  /** Removes a job as if its project had been deleted. */
  forget(jobId: number): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#jobs.delete(jobId);
    for (const list of listsOf(job)) this.#lists.get(list)?.delete(job);
  }

  addRunner(runner: LocalRunner): void {
    this.#runners.set(runner.id, runner);
  }

  job(id: number): LocalJob | undefined {
    return this.#jobs.get(id);
  }

  /** @throws {Error} if the job does not exist or has ended. */
  living(id: number): LocalJob {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Error(`there is no job ${id}; create it first`);
    if (isTerminal(job.status))
      throw new Error(`job ${id} has ended with ${job.status}; it does not change any more`);
    return job;
  }

  jobs(): IterableIterator<LocalJob> {
    return this.#jobs.values();
  }

  nextId(): number {
    return Math.max(0, ...this.#jobs.keys()) + 1;
  }

  /** Ascending by id. */
  runners(): readonly LocalRunner[] {
    return [...this.#runners.values()].sort((a, b) => a.id - b.id);
  }

  runner(id: number): LocalRunner | undefined {
    return this.#runners.get(id);
  }

  /** Ascending ids of a list. */
  idsOn(list: JobList, status: string | undefined): readonly number[] {
    return [...(this.#lists.get(list) ?? [])]
      .filter((job) => status === undefined || job.status === status)
      .map(({ id }) => id)
      .sort((a, b) => a - b);
  }

  #list(job: LocalJob): void {
    for (const list of listsOf(job)) this.#lists.set(list, (this.#lists.get(list) ?? new Set()).add(job));
  }
}

/** The lists that show a job. */
const listsOf = ({ projectId, runner }: LocalJob): JobList[] => [
  `projects/${projectId}`,
  ...(runner === undefined ? [] : [`runners/${runner.id}` as const]),
];

/** Shares in [0, 1] of webhook deliveries that go wrong, each drawn on its own. */
export interface HookFaultShares {
  /** Never sent. */
  readonly lose: number;
  /** Sent again under the same `webhook-id`, after a delay. */
  readonly repeat: number;
  /** Sent after the next delivery of the same job. */
  readonly reorder: number;
  /** Sent late. */
  readonly delay: number;
}

/** A response of the REST API instead of the real one. `stall` never answers. */
type RestFault = { readonly status: number; readonly retryAfterSeconds?: number } | 'stall';

/** Faults of the REST API, switchable while it runs. All are off at the start. */
export class LocalGitLabFaults {
  /** Answers 405 to `pagination=keyset` on runner jobs, as older versions do. */
  refuseKeyset = false;
  #rest: { fault: RestFault; left: number }[] = [];

  /** Answers the next `calls` REST calls this way. `Infinity` lasts until `clear`. */
  answerRest(fault: RestFault, calls = 1): void {
    this.#rest.push({ fault, left: calls });
  }

  clear(): void {
    this.refuseKeyset = false;
    this.#rest = [];
  }

  /** Returns the fault of this REST call, and uses it up. */
  takeRest(): RestFault | undefined {
    const [first] = this.#rest;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) this.#rest.shift();
    return first.fault;
  }
}
