/**
 * GitLab as the month has it: the local GitLab's book of jobs and the bodies it tells them by, read as the product reads them.
 * Its own are the time, in which everything is known before it happens, and that it is away for a while.
 */
import {
  type GitLab,
  GitLabError,
  type JobList,
  type JobsPage,
  type JobTruth,
  parseJobHook,
  parseRestJob,
  REJECTED_BY_ROUTER,
  type RunnersPage,
} from '../../../functions/core/gitlab/index.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { jobEntity, jobHookBody, jobOfRunnerEntity } from '../../local/gitlab/bodies.ts';
import { olderThan, PER_PAGE_MAX } from '../../local/gitlab/instance.ts';
import { JobBook, LocalGitLabFaults, type LocalJob, listsOf } from '../../local/gitlab/state.ts';
import { Agenda } from './agenda.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Tree } from './tree.ts';
import { OUTAGE, RUNNER_CLASSES } from './workload.ts';

/** Several of each class, so that lists stay short, as they do in a fleet. */
const RUNNERS_PER_CLASS = 4;
/** How long a job shows as running that the router refused. */
const REFUSED_MS = 200;
const INSTANCE_URL = 'https://gitlab.example.com';

export const runnerIdOf = ({ kind, jobId }: Pick<PlannedJob, 'kind' | 'jobId'>): number =>
  1 + RUNNER_CLASSES.indexOf(kind.runnerClass) * RUNNERS_PER_CLASS + (jobId % RUNNERS_PER_CLASS);

/** A job that GitLab let go on: admitted, or never asked about. */
export interface SimulatedRun {
  readonly job: PlannedJob;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

export class SimulatedGitLab implements GitLab {
  readonly runs = new Map<number, SimulatedRun>();
  calls = 0;
  readonly #tree: () => Tree;
  readonly #clock: { nowMs(): number };
  readonly #book = new JobBook();
  readonly #faults = new LocalGitLabFaults({
    outages: [{ fromMs: OUTAGE.fromMs, toMs: OUTAGE.untilMs }],
  });
  readonly #runners: RunnersPage;
  /** Starts and ends that are still to come. */
  readonly #changes = new Agenda<() => void>();
  readonly #hooks = new Agenda<() => JobTruth>();
  /** What lists say of a job, until it changes. */
  readonly #said = new Map<number, JobTruth>();
  /** First pages, until a job on it changes: nearly every sweep asks for the same. */
  readonly #newest = new Map<JobList, JobsPage>();
  readonly #running = new Map<JobList, JobsPage>();

  /** @param tree - of now: groups move. */
  constructor(tree: () => Tree, clock: { nowMs(): number }) {
    this.#tree = tree;
    this.#clock = clock;
    for (const [index, name] of RUNNER_CLASSES.entries())
      for (let each = 0; each < RUNNERS_PER_CLASS; each += 1)
        this.#book.addRunner({ id: 1 + index * RUNNERS_PER_CLASS + each, tags: [name] });
    this.#runners = { runnerIds: this.#book.runners().map(({ id }) => id) };
  }

  /** The router lets the job go on at this moment. */
  start(job: PlannedJob, atMs: number): SimulatedRun {
    // Webhooks tell whole seconds and the REST API milliseconds: jobs start where both say the same.
    const startsAtMs = Math.ceil((atMs + job.queueMs) / 1_000) * 1_000;
    const run: SimulatedRun = { job, startsAtMs, endsAtMs: startsAtMs + ranMs(job) };
    this.runs.set(job.jobId, run);
    const { id, path } = this.#tree().placeOf(job);
    const { jobId, pipelineId, kind } = job;
    const known = { id: jobId, projectId: id, projectPath: path, name: kind.name, pipelineId };
    const local = this.#book.create(known, job.askedAtMs);
    this.#book.queue(local, atMs);
    this.#changed(local);
    if (job.fate !== 'canceledBeforeStart') this.#changes.add(startsAtMs, () => this.#starts(local, run));
    this.#changes.add(run.endsAtMs, () => this.#ends(local, run));
    for (const delayMs of job.endDelaysMs) this.#send(run, delayMs, () => local, run.endsAtMs);
    return run;
  }

  /** When the next webhook arrives. */
  get nextHookMs(): number {
    return this.#hooks.nextMs;
  }

  /** Webhooks that arrived by now, as the product reads them. */
  takeHooks(): readonly JobTruth[] {
    return this.#hooks.takeUntil(this.#catchUp()).map((read) => read());
  }

  /** One that could not be worked off comes again. */
  sendAgain(atMs: number, truth: JobTruth): void {
    this.#hooks.add(atMs, () => truth);
  }

  async job(projectId: number, jobId: number): Promise<JobTruth | undefined> {
    const nowMs = this.#called();
    const job = this.#book.job(jobId);
    return job && readAs(job, parseRestJob(jobEntity(job, INSTANCE_URL, nowMs), { projectId }));
  }

  async listJobs(
    list: JobList,
    { status, page }: { readonly status?: 'running'; readonly page?: string },
  ): Promise<JobsPage> {
    const nowMs = this.#called();
    const first = page === undefined ? (status === 'running' ? this.#running : this.#newest) : undefined;
    const known = first?.get(list);
    if (known !== undefined) return known;
    const before = page === undefined ? undefined : Number(page);
    const { ids, isLast } = olderThan(this.#book.idsOn(list, status), before, PER_PAGE_MAX);
    const jobs = ids.map((id) => this.#listed(id, nowMs));
    const found = isLast ? { jobs } : { jobs, next: String(ids.at(-1)) };
    first?.set(list, found);
    return found;
  }

  async runners(): Promise<RunnersPage> {
    this.#called();
    return this.#runners;
  }

  #starts(local: LocalJob, run: SimulatedRun): void {
    const { job, startsAtMs } = run;
    const runner = this.#book.runner(runnerIdOf(job));
    if (runner === undefined) throw new RangeError(`there is no runner for job ${job.jobId}`);
    this.#book.start(local, runner, startsAtMs);
    this.#changed(local);
    const { lateRunningMs } = job;
    if (lateRunningMs === undefined || run.endsAtMs === startsAtMs) return;
    const running = { ...local };
    this.#send(run, lateRunningMs, () => running, startsAtMs);
  }

  #ends(local: LocalJob, { job, endsAtMs }: SimulatedRun): void {
    if (job.fate === 'vanished') this.#book.forget(local);
    else if (job.fate === 'canceledBeforeStart') this.#book.end(local, { status: 'canceled' }, endsAtMs);
    else if (job.fate === 'routerFailure')
      this.#book.end(local, { status: 'failed', failureReason: REJECTED_BY_ROUTER }, endsAtMs);
    else this.#book.end(local, { status: 'success' }, endsAtMs);
    this.#changed(local);
  }

  #changed(job: LocalJob): void {
    this.#said.delete(job.id);
    for (const list of listsOf(job)) {
      this.#newest.delete(list);
      this.#running.delete(list);
    }
  }

  /** Lost for good where GitLab is away when the job ends or when it would be delivered. */
  #send({ endsAtMs }: SimulatedRun, delayMs: number, of: () => LocalJob, saidAtMs: number): void {
    const atMs = endsAtMs + delayMs;
    if (this.#faults.isOut(endsAtMs) || this.#faults.isOut(atMs)) return;
    this.#hooks.add(atMs, () => {
      const job = of();
      return readAs(job, parseJobHook(jobHookBody(job, INSTANCE_URL, saidAtMs)));
    });
  }

  #listed(id: number, nowMs: number): JobTruth {
    const before = this.#said.get(id);
    if (before !== undefined) return before;
    const job = this.#book.job(id);
    if (job === undefined) throw new RangeError(`there is no job ${id}`);
    const known = { projectId: job.projectId, ...withoutAbsent({ runnerId: job.runner?.id }) };
    const said = readAs(job, parseRestJob(jobOfRunnerEntity(job, INSTANCE_URL, nowMs), known));
    this.#said.set(id, said);
    return said;
  }

  /** @returns the time. */
  #catchUp(): number {
    const nowMs = this.#clock.nowMs();
    if (this.#changes.nextMs <= nowMs) for (const change of this.#changes.takeUntil(nowMs)) change();
    return nowMs;
  }

  /** @returns the time. */
  #called(): number {
    const nowMs = this.#catchUp();
    this.calls += 1;
    if (this.#faults.isOut(nowMs))
      throw new GitLabError('gitlab_unavailable', 'the simulated GitLab is away');
    return nowMs;
  }
}

function ranMs({ fate, durationSeconds }: PlannedJob): number {
  if (fate === 'canceledBeforeStart') return 0;
  return fate === 'routerFailure' ? REFUSED_MS : Math.round(durationSeconds * 1000);
}

/**
 * The REST API leaves out a runner's tags, and a job that nobody asked about is then charged at the default price. The month
 * compares with one true price of each job, so its GitLab says them everywhere.
 */
function readAs(
  { id, runner }: LocalJob,
  read: JobTruth | { readonly problems: readonly string[] },
): JobTruth {
  if ('problems' in read) throw new Error(`job ${id} cannot be read: ${read.problems.join('; ')}`);
  return runner?.tags === undefined ? read : { ...read, runnerTags: runner.tags };
}
