/** GitLab: what really became of every job. It tells it by webhooks, which may go astray, and when asked: see rest.ts. */
import { type JobStatus, type JobTruth, REJECTED_BY_ROUTER } from '../../functions/core/gitlab/gitlab.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { pathOfProject } from './documents.ts';
import { chainOf, type RunnerClassName, type Tree } from './places.ts';

export interface JobPlan {
  readonly projectId: number;
  readonly runnerClass: RunnerClassName;
  readonly runnerId: number;
  readonly timeoutSeconds: number;
  /** Whatever the router is told: the controller is in dry run, or was never asked. */
  readonly runsAnyway: boolean;
  /** A version of GitLab that leaves the duration out. */
  readonly withoutDuration: boolean;
}

export interface TrueJob extends JobPlan {
  readonly jobId: number;
  readonly createdAtMs: number;
  status: Extract<JobStatus, 'pending' | 'running' | 'success' | 'failed' | 'canceled'>;
  /** The first answer the router heard. */
  told?: 'admitted' | 'rejected';
  startedAtMs?: number;
  finishedAtMs?: number;
  failureReason?: string;
  /** Gone with its project: GitLab answers 404 from then on. */
  removed: boolean;
  /** The first of the jobs that this one is a retry of; its own number if it is none. */
  readonly sameAs: number;
  /** GitLab retries a job once. */
  retried: boolean;
  /** The groups its project was in when it was asked about. */
  readonly askedIn: Set<number>;
  /** When the fallback answered for it, by the relays' clocks. */
  readonly answeredAtMs: Set<number>;
}

export type Mood = 'answers' | 'away' | 'rate-limited' | 'token-expired';

export interface Delivery {
  readonly id: string;
  readonly truth: JobTruth;
}

const WAITS_MS_MAX = 5 * 24 * 3_600_000;
const ROUTER_SECONDS = 0.2;

export const isOver = ({ status }: TrueJob): boolean => status !== 'pending' && status !== 'running';

/** How long it ran, seconds; undefined: never, or not to its end. */
export const ranSeconds = ({ startedAtMs, finishedAtMs, failureReason }: TrueJob): number | undefined =>
  startedAtMs === undefined || finishedAtMs === undefined || failureReason === REJECTED_BY_ROUTER
    ? undefined
    : (finishedAtMs - startedAtMs) / 1000;

/** Only retries of a job have its name in its pipeline, as in GitLab. */
const namedIn = (sameAs: number) => ({
  jobName: `unit ${Math.floor(sameAs / 3)}`,
  pipelineId: 5_000 + (sameAs % 3),
});

export class Truth {
  /** In the order of their ids, which are given when a job is made: when it first matters. */
  readonly jobs: TrueJob[] = [];
  /** Webhooks on their way. */
  readonly outbox: Delivery[] = [];
  mood: Mood = 'answers';
  /** Else our token is no administrator's: it lists nothing, and every job is a 404. */
  tokenSees = true;
  readonly #plans: readonly JobPlan[];
  readonly #made = new Map<number, TrueJob>();
  readonly #nowMs: () => number;
  readonly #tree: () => Tree;
  #deliveries = 0;

  constructor(plans: readonly JobPlan[], nowMs: () => number, tree: () => Tree) {
    this.#nowMs = nowMs;
    this.#tree = tree;
    this.#plans = plans;
  }

  job(index: number): TrueJob {
    const at = index % this.#plans.length;
    const known = this.#made.get(at);
    if (known !== undefined) return known;
    const plan = this.#plans[at];
    if (plan === undefined) throw new Error('the model has at least one job');
    return this.#make(at, plan, this.jobs.length + 1);
  }

  #make(at: number, plan: JobPlan, sameAs: number): TrueJob {
    const { projectId, runnerClass, runnerId, timeoutSeconds, runsAnyway, withoutDuration } = plan;
    const job: TrueJob = {
      ...{ projectId, runnerClass, runnerId, timeoutSeconds, runsAnyway, withoutDuration },
      ...{ jobId: this.jobs.length + 1, sameAs, createdAtMs: this.#nowMs(), status: 'pending' },
      ...{ removed: false, retried: false, askedIn: new Set(), answeredAtMs: new Set() },
    };
    this.#made.set(at, job);
    this.jobs.push(job);
    return job;
  }

  /** A new job in the place of one that the router failed. Undefined: GitLab does not do that (again). */
  retry(job: TrueJob): TrueJob | undefined {
    const [at] = [...this.#made].find(([, made]) => made === job) ?? [];
    if (at === undefined || job.removed || job.retried || job.failureReason !== REJECTED_BY_ROUTER)
      return undefined;
    job.retried = true;
    return this.#make(at, job, job.sameAs);
  }

  byId = (jobId: number): TrueJob => {
    const job = this.jobs[jobId - 1];
    if (job === undefined) throw new Error(`there is no job ${jobId}`);
    return job;
  };

  /** The top-level group that the project is in now: GitLab sends its webhooks. */
  rootOf(projectId: number): number {
    const groupId = this.#tree().groupOf.get(projectId) ?? 0;
    return chainOf(groupId, this.#tree())[0] ?? groupId;
  }

  /** The router's question, as a relay translates it. */
  ask(job: TrueJob): AdmissionRequest {
    const groupId = this.#tree().groupOf.get(job.projectId) ?? 0;
    job.askedIn.add(groupId);
    return {
      jobId: job.jobId,
      ...namedIn(job.sameAs),
      projectId: job.projectId,
      projectPath: pathOfProject(job.projectId, this.#tree()),
      namespaceId: groupId,
      rootNamespaceId: chainOf(groupId, this.#tree())[0] ?? groupId,
      runnerTags: [job.runnerClass],
      timeoutSeconds: job.timeoutSeconds,
      ...(job.jobId % 2 === 0 && { runnerId: job.runnerId }),
    };
  }

  /** Only the first answer counts; a rejected job fails, unless nobody listens to the answer. */
  tell(job: TrueJob, answer: 'admitted' | 'rejected'): void {
    if (job.told !== undefined || job.status !== 'pending') return;
    job.told = answer;
    if (answer === 'rejected' && !job.runsAnyway) this.refuse(job);
  }

  /** The router refuses it: because it was told so, or because nobody answered. */
  refuse(job: TrueJob): void {
    if (job.status !== 'pending' || job.told === 'admitted') return;
    job.startedAtMs = this.#nowMs();
    job.failureReason = REJECTED_BY_ROUTER;
    this.#end(job, 'failed', this.#nowMs() + ROUTER_SECONDS * 1000);
  }

  /** One of those that may, also if nobody has heard of it. */
  start(pick: number): void {
    const ready = this.#plans.flatMap(({ runsAnyway }, index) => {
      const job = this.#made.get(index);
      if (job === undefined) return runsAnyway ? [index] : [];
      return !job.removed && job.status === 'pending' && (job.told === 'admitted' || runsAnyway)
        ? [index]
        : [];
    });
    const index = ready[pick % Math.max(1, ready.length)];
    if (index === undefined) return;
    const job = this.job(index);
    job.status = 'running';
    job.startedAtMs = this.#nowMs();
    this.#say(job);
  }

  /** One of those that run; if canceled, also of those that wait. */
  end(pick: number, how: 'success' | 'failed' | 'canceled'): void {
    const open = this.jobs.filter(
      ({ removed, status }) =>
        !removed && (status === 'running' || (how === 'canceled' && status === 'pending')),
    );
    const job = open[pick % Math.max(1, open.length)];
    if (job !== undefined) this.#end(job, how, this.#nowMs());
  }

  endAll(): void {
    for (const job of this.jobs) {
      if (!job.removed && !isOver(job))
        this.#end(job, job.status === 'pending' ? 'canceled' : 'success', this.#nowMs());
    }
  }

  /** No job runs longer than its timeout, or waits for days. */
  passed(): void {
    for (const job of this.jobs) {
      const givenUpMs = job.createdAtMs + WAITS_MS_MAX;
      if (job.status === 'pending' && !job.removed && givenUpMs <= this.#nowMs()) {
        job.failureReason = 'stuck_or_timeout_failure';
        this.#end(job, 'failed', givenUpMs);
      }
      const latestMs = (job.startedAtMs ?? 0) + job.timeoutSeconds * 1000;
      if (job.status === 'running' && !job.removed && latestMs <= this.#nowMs())
        this.#end(job, 'failed', latestMs);
    }
  }

  #end(job: TrueJob, status: 'success' | 'failed' | 'canceled', atMs: number): void {
    job.status = status;
    job.finishedAtMs = atMs;
    this.#say(job);
  }

  #say(job: TrueJob): void {
    this.outbox.push({ id: this.newDeliveryId(), truth: this.says(job) });
  }

  newDeliveryId(): string {
    this.#deliveries += 1;
    return `delivery ${this.#deliveries}`;
  }

  says(job: TrueJob): JobTruth {
    const { jobId, sameAs, projectId, status, createdAtMs, startedAtMs, finishedAtMs, failureReason } = job;
    const ran = startedAtMs !== undefined && finishedAtMs !== undefined;
    return {
      jobId,
      projectId,
      status,
      projectPath: pathOfProject(projectId, this.#tree()),
      ...namedIn(sameAs),
      createdAtMs,
      ...(startedAtMs !== undefined && {
        startedAtMs,
        runnerId: job.runnerId,
        runnerTags: [job.runnerClass],
      }),
      ...(finishedAtMs !== undefined && { finishedAtMs }),
      ...(ran && !job.withoutDuration && { durationSeconds: (finishedAtMs - startedAtMs) / 1000 }),
      ...(failureReason !== undefined && { failureReason }),
    };
  }
}
