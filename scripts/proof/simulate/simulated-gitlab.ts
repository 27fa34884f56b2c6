/** GitLab as the month has it: it knows the truth, tells it over REST, and is away for a while. */
import {
  type GitLab,
  GitLabError,
  type JobsPage,
  type JobTruth,
  REJECTED_BY_ROUTER,
  type RunnersPage,
} from '../../../functions/core/gitlab/index.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Tree } from './tree.ts';
import { OUTAGE, RUNNER_CLASSES } from './workload.ts';

/** GitLab's largest page. */
const PAGE_JOBS = 100;
/** Several of each class, so that lists stay short, as they do in a fleet. */
const RUNNERS_PER_CLASS = 4;

export const runnerIdOf = ({ kind, jobId }: Pick<PlannedJob, 'kind' | 'jobId'>): number =>
  1 + RUNNER_CLASSES.indexOf(kind.runnerClass) * RUNNERS_PER_CLASS + (jobId % RUNNERS_PER_CLASS);

/** A job that GitLab let go on: admitted, or never asked about. */
export interface SimulatedRun {
  readonly job: PlannedJob;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

export const isAway = (atMs: number): boolean => atMs >= OUTAGE.fromMs && atMs < OUTAGE.untilMs;

export class SimulatedGitLab implements GitLab {
  readonly runs = new Map<number, SimulatedRun>();
  calls = 0;
  readonly #tree: () => Tree;
  readonly #clock: { nowMs(): number };
  /** Keyed by runner, ascending by job id. */
  readonly #jobsOf = new Map<number, Listed[]>();
  /** Keyed by runner; those that ended leave when somebody looks. */
  readonly #running = new Map<number, Set<Listed>>();
  /** First pages, until something changes. */
  readonly #newest = new Map<number, FirstPage>();
  readonly #firstRunning = new Map<number, FirstPage>();

  /** @param tree - of now: groups move. */
  constructor(tree: () => Tree, clock: { nowMs(): number }) {
    this.#tree = tree;
    this.#clock = clock;
  }

  /** The router lets the job go on at this moment. */
  start(job: PlannedJob, atMs: number): SimulatedRun {
    const startsAtMs = atMs + job.queueMs;
    const ran = job.fate !== 'routerFailure' && job.fate !== 'canceledBeforeStart';
    const run: SimulatedRun = {
      job,
      startsAtMs,
      endsAtMs: startsAtMs + (ran ? Math.round(job.durationSeconds * 1000) : 0),
    };
    this.runs.set(job.jobId, run);
    const listed: Listed = { run, said: undefined, final: false };
    const jobs = entryOf(this.#jobsOf, runnerIdOf(job), (): Listed[] => []);
    let index = jobs.length;
    while (index > 0 && (jobs[index - 1]?.run.job.jobId ?? 0) > job.jobId) index -= 1;
    jobs.splice(index, 0, listed);
    this.#newest.delete(runnerIdOf(job));
    this.#firstRunning.delete(runnerIdOf(job));
    entryOf(this.#running, runnerIdOf(job), () => new Set<Listed>()).add(listed);
    return run;
  }

  /** What GitLab says of a run at a time; undefined: the project is gone, and its jobs with it. */
  truth({ job, startsAtMs, endsAtMs }: SimulatedRun, atMs: number): JobTruth | undefined {
    const project = this.#tree().placeOf(job);
    const known = {
      jobId: job.jobId,
      projectId: project.id,
      projectPath: project.path,
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
    const { status, page } = options;
    const first = page === undefined ? (status === 'running' ? this.#firstRunning : this.#newest) : undefined;
    const known = first?.get(runnerId);
    if (known !== undefined && nowMs < known.untilMs) return known.page;
    const runs = status === 'running' ? this.#runningOn(runnerId, nowMs) : (this.#jobsOf.get(runnerId) ?? []);
    const found = pageOf(runs, page, this.#say(nowMs));
    first?.set(runnerId, { page: found, untilMs: this.#nextChangeMs(runnerId, nowMs) });
    return found;
  }

  async runners(): Promise<RunnersPage> {
    this.#called();
    return { runnerIds: RUNNER_CLASSES.flatMap((_, index) => runnersOfClass(index)) };
  }

  /** What a list shows of a run; nothing before its start, or of one without a runner. Said once, it stays the same. */
  #say(nowMs: number): (listed: Listed) => JobTruth | undefined {
    return (listed) => {
      if (listed.final) return listed.said;
      const { run } = listed;
      if (nowMs < run.startsAtMs) return undefined;
      listed.final = nowMs >= run.endsAtMs;
      if (!listed.final && listed.said !== undefined) return listed.said;
      const truth = this.truth(run, nowMs);
      listed.said = truth?.runnerId === undefined ? undefined : truth;
      return listed.said;
    };
  }

  /** When one of its runs starts or ends; a run that is new forgets the page anyway. */
  #nextChangeMs(runnerId: number, nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { run } of this.#running.get(runnerId) ?? []) {
      const { startsAtMs, endsAtMs } = run;
      if (startsAtMs > nowMs) nextMs = Math.min(nextMs, startsAtMs);
      else if (endsAtMs > nowMs) nextMs = Math.min(nextMs, endsAtMs);
    }
    return nextMs;
  }

  #runningOn(runnerId: number, nowMs: number): readonly Listed[] {
    const running = this.#running.get(runnerId);
    if (running === undefined) return [];
    for (const listed of running) if (listed.run.endsAtMs <= nowMs) running.delete(listed);
    return [...running].sort((a, b) => a.run.job.jobId - b.run.job.jobId);
  }

  #called(): void {
    this.calls += 1;
    if (isAway(this.#clock.nowMs()))
      throw new GitLabError('gitlab_unavailable', 'the simulated GitLab is away');
  }
}

interface Listed {
  readonly run: SimulatedRun;
  said: JobTruth | undefined;
  /** It will never be another. */
  final: boolean;
}

interface FirstPage {
  readonly page: JobsPage;
  readonly untilMs: number;
}

/** @param runs - ascending by job id. */
function pageOf(
  runs: readonly Listed[],
  page: string | undefined,
  say: (listed: Listed) => JobTruth | undefined,
): JobsPage {
  const jobs: JobTruth[] = [];
  const from = page === undefined ? runs.length : countBelow(runs, Number(page));
  for (let index = from - 1; index >= 0; index -= 1) {
    const listed = runs[index];
    const truth = listed && say(listed);
    if (truth === undefined) continue;
    jobs.push(truth);
    if (jobs.length === PAGE_JOBS) return { jobs, next: String(truth.jobId) };
  }
  return { jobs };
}

/** How many runs have an id below this one. */
function countBelow(runs: readonly Listed[], jobId: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.run.job.jobId ?? jobId) < jobId) low = middle + 1;
    else high = middle;
  }
  return low;
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
