import { isTerminal, type JobList } from '../../../functions/core/gitlab/index.ts';
import type { JobEnding, LocalJob, LocalRunner, NewJob } from './job.ts';

/** All jobs and runners, and which job is on which runner. The only place where a job changes. */
export class JobBook {
  readonly #jobs = new Map<number, LocalJob>();
  readonly #runners = new Map<number, LocalRunner>();
  /** Ascending ids: a month of jobs is listed page by page without being sorted again. */
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
    job.status = 'running';
    job.startedAtMs = nowMs;
    job.runner = runner;
    // What an administrator made of a runner stays; a job knows only its id and tags.
    if (!this.#runners.has(runner.id)) this.addRunner(runner);
    insertAscending(this.#idsIn(`runners/${runner.id}`), job.id);
    for (const list of listsOf(job)) this.#runningIn(list).add(job.id);
  }

  end(job: LocalJob, ending: JobEnding, nowMs: number): void {
    job.status = ending.status;
    job.finishedAtMs = nowMs;
    if (ending.status === 'failed') {
      job.failureReason = ending.failureReason ?? 'script_failure';
      if (ending.message !== undefined) job.failureMessage = ending.message;
    }
    for (const list of listsOf(job)) this.#runningIn(list).delete(job.id);
  }

  appendTrace(job: LocalJob, text: string): void {
    job.trace = `${job.trace ?? ''}${text}`;
  }

  /** As if its project were deleted. */
  forget(job: LocalJob): void {
    this.#jobs.delete(job.id);
    for (const list of listsOf(job)) {
      this.#runningIn(list).delete(job.id);
      const ids = this.#idsIn(list);
      ids.splice(ids.indexOf(job.id), 1);
    }
  }

  addRunner(runner: LocalRunner): void {
    this.#runners.set(runner.id, runner);
  }

  job(id: number): LocalJob | undefined {
    return this.#jobs.get(id);
  }

  /** @throws {Error} if there is no such job, or it has ended. */
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

  /** Ascending by id. */
  runners(): readonly LocalRunner[] {
    return [...this.#runners.values()].sort((a, b) => a.id - b.id);
  }

  runner(id: number): LocalRunner | undefined {
    return this.#runners.get(id);
  }

  /** Ascending ids of the jobs a runner took, or of a project's jobs. */
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
  const there = map.get(key) ?? make();
  map.set(key, there);
  return there;
}

/** Nearly always at the end: later jobs have higher ids. */
function insertAscending(ids: number[], id: number): void {
  let at = ids.length;
  while (at > 0 && (ids[at - 1] ?? 0) > id) at -= 1;
  ids.splice(at, 0, id);
}
