import { isTerminal } from '../../../functions/core/gitlab/index.ts';
import type { JobEnding, LocalJob, LocalRunner, NewJob } from './job.ts';

/** All jobs and runners, and which job is on which runner. The only place where a job changes. */
export class JobBook {
  readonly #jobs = new Map<number, LocalJob>();
  readonly #runners = new Map<number, LocalRunner>();
  /** Ascending ids: a month of jobs is listed page by page without being sorted again. */
  readonly #idsOfRunner = new Map<number, number[]>();
  readonly #runningOfRunner = new Map<number, Set<number>>();

  /** @throws {Error} if the id is taken. */
  create(job: NewJob, nowMs: number): LocalJob {
    if (this.#jobs.has(job.id)) throw new Error(`job ${job.id} is there already; ids are unique`);
    const created: LocalJob = { ...job, status: 'created', createdAtMs: nowMs };
    this.#jobs.set(job.id, created);
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
    insertAscending(this.#idsOf(runner.id), job.id);
    this.#runningOf(runner.id).add(job.id);
  }

  end(job: LocalJob, ending: JobEnding, nowMs: number): void {
    job.status = ending.status;
    job.finishedAtMs = nowMs;
    if (ending.status === 'failed') {
      job.failureReason = ending.failureReason ?? 'script_failure';
      if (ending.message !== undefined) job.failureMessage = ending.message;
    }
    if (job.runner !== undefined) this.#runningOf(job.runner.id).delete(job.id);
  }

  appendTrace(job: LocalJob, text: string): void {
    job.trace = `${job.trace ?? ''}${text}`;
  }

  /** As if its project were deleted. */
  forget(job: LocalJob): void {
    this.#jobs.delete(job.id);
    if (job.runner === undefined) return;
    this.#runningOf(job.runner.id).delete(job.id);
    const ids = this.#idsOf(job.runner.id);
    ids.splice(ids.indexOf(job.id), 1);
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

  /** Ascending ids of the jobs a runner took. */
  idsOfRunner(runnerId: number, status: string | undefined): readonly number[] {
    if (status === 'running') return [...this.#runningOf(runnerId)].sort((a, b) => a - b);
    const ids = this.#idsOf(runnerId);
    return status === undefined ? ids : ids.filter((id) => this.#jobs.get(id)?.status === status);
  }

  #idsOf(runnerId: number): number[] {
    return entry(this.#idsOfRunner, runnerId, () => []);
  }

  #runningOf(runnerId: number): Set<number> {
    return entry(this.#runningOfRunner, runnerId, () => new Set());
  }
}

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
