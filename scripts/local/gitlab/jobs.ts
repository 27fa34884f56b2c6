/** Jobs and runners of the local GitLab. A job changes only here. */
import { isTerminal, type JobList, type JobStatus } from '../../../functions/core/gitlab/index.ts';

/** A runner of the instance. */
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

/** A process of GitLab Runner. */
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
  /** Ascending ids, so that a month of jobs is paged without sorting. */
  readonly #ids = new Map<JobList, number[]>();
  readonly #running = new Map<JobList, Set<number>>();

  /** @throws {Error} if the id is taken. */
  create(job: NewJob, nowMs: number): LocalJob {
    if (this.#jobs.has(job.id)) throw new Error(`job ${job.id} is there already; ids are unique`);
    const created: LocalJob = { ...job, status: 'created', createdAtMs: nowMs };
    this.#jobs.set(job.id, created);
    insertAscending(this.#idsIn(`projects/${job.projectId}`), job.id);
    return created;
  }

  queue(job: LocalJob, nowMs: number): void {
    job.status = 'pending';
    job.queuedAtMs = nowMs;
  }

  start(job: LocalJob, runner: LocalRunner, nowMs: number): void {
    Object.assign(job, { status: 'running', startedAtMs: nowMs, runner });
    // An administrator's settings of a runner stay; a job knows only its id and tags.
    if (!this.#runners.has(runner.id)) this.addRunner(runner);
    insertAscending(this.#idsIn(`runners/${runner.id}`), job.id);
    for (const list of listsOf(job)) this.#runningIn(list).add(job.id);
  }

  end(job: LocalJob, ending: JobEnding, nowMs: number): void {
    Object.assign(job, { status: ending.status, finishedAtMs: nowMs });
    if (ending.status === 'failed') {
      job.failureReason = ending.failureReason ?? 'script_failure';
      if (ending.message !== undefined) job.failureMessage = ending.message;
    }
    for (const list of listsOf(job)) this.#runningIn(list).delete(job.id);
  }

  /** Removes a job as if its project had been deleted. */
  forget(job: LocalJob): void {
    this.#jobs.delete(job.id);
    for (const list of listsOf(job)) {
      this.#runningIn(list).delete(job.id);
      const ids = this.#idsIn(list);
      ids.splice(ids.indexOf(job.id), 1);
    }
  }

  /** Adds a runner, or replaces the one with this id. */
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
    if (status === 'running') return [...this.#runningIn(list)].sort((a, b) => a - b);
    const ids = this.#idsIn(list);
    return status === undefined ? ids : ids.filter((id) => this.#jobs.get(id)?.status === status);
  }

  #idsIn(list: JobList): number[] {
    return entry(this.#ids, list, () => []);
  }

  #runningIn(list: JobList): Set<number> {
    return entry(this.#running, list, () => new Set());
  }
}

/** The lists that show a job. */
export const listsOf = ({ projectId, runner }: LocalJob): JobList[] => [
  `projects/${projectId}`,
  ...(runner === undefined ? [] : [`runners/${runner.id}` as const]),
];

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Nearly always appends: later jobs have higher ids. */
function insertAscending(ids: number[], id: number): void {
  let at = ids.length;
  while (at > 0 && (ids[at - 1] ?? 0) > id) at -= 1;
  ids.splice(at, 0, id);
}
