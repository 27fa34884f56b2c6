import { isTerminal, type JobList, type JobStatus } from '../../../functions/core/gitlab/gitlab.ts';
import type { WallClock } from '../clock.ts';
import type { ControllerTokenBook, LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import type { PlaceBook } from './places.ts';
import type { LocalCiProject, LocalPipeline } from './runners.ts';
import type { GitLabVersion, GroupHookBook } from './webhooks.ts';

export interface GitLabState extends JobLife {
  readonly clock: WallClock;
  readonly random: () => number;
  readonly instanceUrl: string;
  readonly version: GitLabVersion;
  readonly token: string;
  readonly groupTokens: ReadonlyMap<string, string>;
  readonly settings: InstanceSettings;
  readonly faults: LocalGitLabFaults;
  readonly rest: { calls: number };
  readonly jobs: JobBook;
  readonly jobTokens: Map<number, string>;
  readonly ciProjects: readonly LocalCiProject[];
  readonly pipelines: Map<number, LocalPipeline>;
  readonly places: PlaceBook;
  readonly controllers: Map<number, LocalController>;
  readonly controllerTokens: ControllerTokenBook;
  readonly groupHooks: GroupHookBook;
}

export interface JobLife {
  create(job: NewJob): Readonly<LocalJob>;
  start(jobId: number, runner: LocalRunner): void;
  end(jobId: number, ending: JobEnding): void;
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

export class JobBook {
  readonly #jobs = new Map<number, LocalJob>();
  readonly #runners = new Map<number, LocalRunner>();
  readonly #lists = new Map<JobList, Set<LocalJob>>();

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

  runners(): readonly LocalRunner[] {
    return [...this.#runners.values()].sort((a, b) => a.id - b.id);
  }

  runner(id: number): LocalRunner | undefined {
    return this.#runners.get(id);
  }

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

const listsOf = ({ projectId, runner }: LocalJob): JobList[] => [
  `projects/${projectId}`,
  ...(runner === undefined ? [] : [`runners/${runner.id}` as const]),
];

/** Shares in [0, 1] of webhook deliveries that go wrong, each drawn on its own. */
export interface HookFaultShares {
  readonly lose: number;
  readonly repeat: number;
}

type RestFault = { readonly status: number; readonly retryAfterSeconds?: number } | 'stall';

/** Faults of the REST API, switchable while it runs. All are off at the start. */
export class LocalGitLabFaults {
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
