/** The simulated GitLab. It alone knows each job's outcome, and reports it by webhooks and when asked. */

import {
  GitLabError,
  type GitLabJob,
  type JobList,
  type JobStatus,
  type JobsPage,
  REJECTED_BY_ROUTER,
  type RunnersPage,
} from '../../functions/core/gitlab/gitlab.ts';
import type { GitLab } from '../../functions/core/gitlab/rest-gitlab.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { Agenda } from './agenda.ts';
import type { AskedJob } from './rulebook/asked-claims.ts';
import { groupChainOf, type RuleSet } from './rulebook/rule-set.ts';

export interface JobPlan extends AskedJob {
  readonly pipelineId: number;
  readonly runnerId: number;
  readonly withoutRunner?: boolean;
  readonly withoutDuration?: boolean;
}

export interface TrueJob extends JobPlan {
  readonly createdAtMs: number;
  status: Extract<JobStatus, 'pending' | 'running' | 'success' | 'failed' | 'canceled'>;
  heard?: 'admitted' | 'rejected';
  startedAtMs?: number;
  finishedAtMs?: number;
  failureReason?: string;
  removed: boolean;
  retried: boolean;
  readonly askedIn: Set<number>;
  readonly fallback: { readonly answered: 'admitted' | 'rejected'; readonly atMs: number }[];
}

export type Availability = 'answers' | 'away' | 'rate-limited' | 'token-expired';

const RETRY_AFTER_MS = 60_000;

export const isOver = ({ status }: TrueJob): boolean => status !== 'pending' && status !== 'running';

/** Begun seconds count; undefined: it did not run, or not to its end. */
export const ranSeconds = ({ startedAtMs, finishedAtMs, failureReason }: TrueJob): number | undefined =>
  startedAtMs === undefined || finishedAtMs === undefined || failureReason === REJECTED_BY_ROUTER
    ? undefined
    : Math.ceil((finishedAtMs - startedAtMs) / 1000);

interface GitLabOptions {
  readonly nowMs: () => number;
  readonly placeOf: (projectId: number) => {
    readonly path: string;
    readonly groupIds: readonly number[];
  };
  readonly runnerIds: readonly number[];
  readonly jobsPerPage: number;
  readonly onHook: (job: TrueJob, gitlabJob: GitLabJob) => void;
}

export class SimulatedGitLab {
  readonly jobs = new Map<number, TrueJob>();
  readonly agenda = new Agenda<() => void>();
  availability: Availability = 'answers';
  /** False: the token is not an administrator's. It lists nothing, and every job is a 404. */
  tokenSees = true;
  readonly #options: GitLabOptions;
  readonly #lists = new Map<string, TrueJob[]>();
  /** First pages until one of their jobs changes: nearly every sweep reads the same. */
  readonly #pages = new Map<string, JobsPage>();

  constructor(options: GitLabOptions) {
    this.#options = options;
  }

  create(plan: JobPlan, atMs: number): TrueJob {
    const job: TrueJob = {
      ...plan,
      ...{ createdAtMs: atMs, status: 'pending', removed: false, retried: false },
      ...{ askedIn: new Set<number>(), fallback: [] },
    };
    this.jobs.set(job.jobId, job);
    this.#list(`projects/${job.projectId} `, job);
    return job;
  }

  byId(jobId: number): TrueJob {
    const job = this.jobs.get(jobId);
    if (job === undefined) throw new Error(`there is no job ${jobId}`);
    return job;
  }

  requestOf(job: TrueJob): AdmissionRequest {
    const { jobId, jobName, pipelineId, projectId, runnerClass, timeoutSeconds, runnerId } = job;
    const { path, groupIds } = this.#options.placeOf(projectId);
    const namespaceId = groupIds.at(-1) ?? 0;
    job.askedIn.add(namespaceId);
    return {
      ...{ jobId, jobName, pipelineId, projectId, projectPath: path, runnerTags: [runnerClass] },
      ...{ namespaceId, rootNamespaceId: groupIds[0] ?? namespaceId, timeoutSeconds },
      ...(job.withoutRunner !== true && { runnerId }),
    };
  }

  start(job: TrueJob, atMs: number): void {
    job.status = 'running';
    job.startedAtMs = atMs;
    for (const list of [...runningLists(job), `runners/${job.runnerId} `]) this.#list(list, job);
    this.#changed(job);
  }

  end(job: TrueJob, status: 'success' | 'failed' | 'canceled', atMs: number): void {
    if (job.status === 'running')
      for (const list of runningLists(job))
        this.#lists.get(list)?.splice(this.#lists.get(list)?.indexOf(job) ?? 0, 1);
    job.status = status;
    job.finishedAtMs = atMs;
    this.#changed(job);
  }

  refuse(job: TrueJob, fromMs: number, untilMs: number): void {
    job.startedAtMs = fromMs;
    job.failureReason = REJECTED_BY_ROUTER;
    this.#list(`runners/${job.runnerId} `, job);
    this.end(job, 'failed', untilMs);
  }

  remove(job: TrueJob): void {
    job.removed = true;
    this.#forgetPages(job);
  }

  catchUp(): void {
    const nowMs = this.#options.nowMs();
    for (let change = this.agenda.take(nowMs); change !== undefined; change = this.agenda.take(nowMs))
      change();
  }

  api(step: () => Promise<void>): GitLab {
    const answer = async <T>(look: () => T, isForAdministrators: boolean): Promise<T> => {
      await step();
      this.catchUp();
      this.#mustAnswer(isForAdministrators);
      const found = look();
      await step();
      return found;
    };
    return {
      job: (_projectId, jobId) =>
        answer(() => {
          const job = this.jobs.get(jobId);
          return job === undefined || job.removed || !this.tokenSees ? undefined : this.truthOf(job);
        }, false),
      listJobs: (list, options) => answer(() => this.#page(list, options), list.startsWith('runners/')),
      runners: () => answer((): RunnersPage => ({ runnerIds: this.#options.runnerIds }), true),
    };
  }

  truthOf(job: TrueJob): GitLabJob {
    const { jobId, jobName, pipelineId, projectId, status, createdAtMs } = job;
    const { startedAtMs, finishedAtMs, failureReason } = job;
    const ran = startedAtMs !== undefined && finishedAtMs !== undefined && job.withoutDuration !== true;
    return {
      ...{ jobId, projectId, status, jobName, pipelineId, createdAtMs },
      projectPath: this.#options.placeOf(projectId).path,
      ...(startedAtMs !== undefined && {
        ...{ startedAtMs, runnerId: job.runnerId, runnerTags: [job.runnerClass] },
      }),
      ...(finishedAtMs !== undefined && { finishedAtMs }),
      ...(ran && { durationSeconds: (finishedAtMs - startedAtMs) / 1000 }),
      ...(failureReason !== undefined && { failureReason }),
    };
  }

  #mustAnswer(isForAdministrators: boolean): void {
    switch (this.availability) {
      case 'answers':
        if (!this.tokenSees && isForAdministrators) throw new GitLabError('gitlab_refused', '403');
        return;
      case 'away':
        throw new GitLabError('gitlab_unavailable', '502');
      case 'rate-limited':
        throw new GitLabError('gitlab_rate_limited', '429', { retryAfterMs: RETRY_AFTER_MS });
      case 'token-expired':
        throw new GitLabError('gitlab_refused', '401');
    }
  }

  #page(
    list: JobList,
    { status, page }: { readonly status?: 'running'; readonly page?: string | undefined },
  ): JobsPage {
    const key = `${list} ${status ?? ''}`;
    const known = page === undefined && this.tokenSees ? this.#pages.get(key) : undefined;
    if (known !== undefined) return known;
    const below = page === undefined ? Number.POSITIVE_INFINITY : Number(page);
    const found: TrueJob[] = [];
    for (const job of this.tokenSees ? (this.#lists.get(key) ?? []) : []) {
      if (job.jobId >= below || job.removed) continue;
      found.push(job);
      if (found.length > this.#options.jobsPerPage) break;
    }
    const jobs = found.slice(0, this.#options.jobsPerPage).map((job) => this.truthOf(job));
    const answer = found.length > jobs.length ? { jobs, next: String(jobs.at(-1)?.jobId) } : { jobs };
    if (page === undefined && this.tokenSees) this.#pages.set(key, answer);
    return answer;
  }

  #list(list: string, job: TrueJob): void {
    const jobs = this.#lists.get(list) ?? [];
    this.#lists.set(list, jobs);
    const at = jobs.findIndex(({ jobId }) => jobId < job.jobId);
    jobs.splice(at < 0 ? jobs.length : at, 0, job);
    this.#forgetPages(job);
  }

  #changed(job: TrueJob): void {
    this.#forgetPages(job);
    this.#options.onHook(job, this.truthOf(job));
  }

  #forgetPages(job: TrueJob): void {
    for (const list of [...runningLists(job), `projects/${job.projectId} `, `runners/${job.runnerId} `])
      this.#pages.delete(list);
  }
}

const runningLists = ({ projectId, runnerId }: TrueJob): readonly string[] => [
  `projects/${projectId} running`,
  `runners/${runnerId} running`,
];

export const groupIdsOf = (
  projectId: number,
  { groupOf, parentOf }: Pick<RuleSet, 'groupOf' | 'parentOf'>,
): readonly number[] => groupChainOf(groupOf.get(projectId) ?? 0, parentOf);
