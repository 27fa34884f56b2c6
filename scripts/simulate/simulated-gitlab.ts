/** GitLab as the month has it: it knows the truth, tells it over REST, and is away for a while. */
import { type GitLab, GitLabError, type JobsPage, type RunnersPage } from '../../functions/gitlab/gitlab.ts';
import { type JobTruth, REJECTED_BY_ROUTER } from '../../functions/gitlab/job-truth.ts';
import type { Places } from './draw-groups.ts';
import type { PlannedJob } from './draw-jobs.ts';
import { OUTAGE, PRICE_PER_MINUTE } from './workload.ts';

/** GitLab's largest page. */
const PAGE_JOBS = 100;
const RUNNER_CLASSES = Object.keys(PRICE_PER_MINUTE);
/** Several of each class, so that lists stay short, as they do in a fleet. */
const RUNNERS_PER_CLASS = 4;

export const runnerIdOf = ({ kind, jobId }: Pick<PlannedJob, 'kind' | 'jobId'>): number =>
  1 + RUNNER_CLASSES.indexOf(kind.runnerClass) * RUNNERS_PER_CLASS + (jobId % RUNNERS_PER_CLASS);

/** A job that GitLab let go on: admitted, or never asked about. */
export interface Run {
  readonly job: PlannedJob;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

export const isAway = (atMs: number): boolean => atMs >= OUTAGE.fromMs && atMs < OUTAGE.untilMs;

export class SimulatedGitLab implements GitLab {
  readonly runs = new Map<number, Run>();
  calls = 0;
  readonly #places: Places;
  readonly #clock: { nowMs(): number };
  /** By runner, ascending by job id. */
  readonly #jobsOf = new Map<number, Run[]>();
  /** By runner; those that ended leave when somebody looks. */
  readonly #running = new Map<number, Set<Run>>();

  constructor(places: Places, clock: { nowMs(): number }) {
    this.#places = places;
    this.#clock = clock;
  }

  /** The router lets the job go on at this moment. */
  start(job: PlannedJob, atMs: number): Run {
    const startsAtMs = atMs + job.queueMs;
    const ran = job.fate !== 'routerFailure' && job.fate !== 'canceledBeforeStart';
    const run: Run = {
      job,
      startsAtMs,
      endsAtMs: startsAtMs + (ran ? Math.round(job.durationSeconds * 1000) : 0),
    };
    this.runs.set(job.jobId, run);
    const jobs = entryOf(this.#jobsOf, runnerIdOf(job), (): Run[] => []);
    let index = jobs.length;
    while (index > 0 && (jobs[index - 1]?.job.jobId ?? 0) > job.jobId) index -= 1;
    jobs.splice(index, 0, run);
    entryOf(this.#running, runnerIdOf(job), () => new Set<Run>()).add(run);
    return run;
  }

  /** What GitLab says of a run at a time; undefined: the project is gone, and its jobs with it. */
  truth({ job, startsAtMs, endsAtMs }: Run, atMs: number): JobTruth | undefined {
    const project = this.#places.projects[job.project];
    const known = {
      jobId: job.jobId,
      projectId: project?.id ?? 0,
      projectPath: project?.path ?? '',
      jobName: job.kind.name,
      pipelineId: job.pipelineId,
      createdAtMs: job.askedAtMs,
    };
    if (atMs < startsAtMs) return { ...known, status: 'pending' };
    if (job.fate === 'canceledBeforeStart') return { ...known, status: 'canceled', finishedAtMs: endsAtMs };
    const started = {
      ...known,
      runnerId: runnerIdOf(job),
      runnerTags: [job.kind.runnerClass],
      startedAtMs: startsAtMs,
    };
    if (job.fate === 'routerFailure') {
      const failed = { status: 'failed', failureReason: REJECTED_BY_ROUTER } as const;
      return { ...started, ...failed, finishedAtMs: endsAtMs, durationSeconds: 0.2 };
    }
    if (atMs < endsAtMs) return { ...started, status: 'running' };
    if (job.fate === 'vanished') return undefined;
    return { ...started, status: 'success', finishedAtMs: endsAtMs, durationSeconds: job.durationSeconds };
  }

  async job(_projectId: number, jobId: number): Promise<JobTruth | undefined> {
    this.#called();
    const run = this.runs.get(jobId);
    return run && this.truth(run, this.#clock.nowMs());
  }

  async jobsOfRunner(
    runnerId: number,
    options: { readonly status?: 'running'; readonly page?: string },
  ): Promise<JobsPage> {
    this.#called();
    const nowMs = this.#clock.nowMs();
    const before = options.page === undefined ? Number.POSITIVE_INFINITY : Number(options.page);
    const found =
      options.status === 'running' ? this.#runningOn(runnerId, nowMs) : (this.#jobsOf.get(runnerId) ?? []);
    const jobs: JobTruth[] = [];
    for (let index = found.length - 1; index >= 0; index -= 1) {
      const run = found[index];
      if (run === undefined || run.job.jobId >= before || nowMs < run.startsAtMs) continue;
      const truth = this.truth(run, nowMs);
      if (truth?.runnerId === undefined) continue;
      jobs.push(truth);
      if (jobs.length === PAGE_JOBS) return { jobs, next: String(truth.jobId) };
    }
    return { jobs };
  }

  async runners(): Promise<RunnersPage> {
    this.#called();
    return { runnerIds: RUNNER_CLASSES.flatMap((_, index) => runnersOfClass(index)) };
  }

  #runningOn(runnerId: number, nowMs: number): readonly Run[] {
    const running = this.#running.get(runnerId);
    if (running === undefined) return [];
    for (const run of running) if (run.endsAtMs <= nowMs) running.delete(run);
    return [...running].sort((a, b) => a.job.jobId - b.job.jobId);
  }

  #called(): void {
    this.calls += 1;
    if (isAway(this.#clock.nowMs()))
      throw new GitLabError('gitlab_unavailable', 'the simulated GitLab is away');
  }
}

const runnersOfClass = (index: number): readonly number[] =>
  Array.from({ length: RUNNERS_PER_CLASS }, (_, each) => 1 + index * RUNNERS_PER_CLASS + each);

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
