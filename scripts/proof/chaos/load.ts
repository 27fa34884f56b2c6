/** Jobs that are requested, run and end as in GitLab, with the outcome of each request. */
import type { JobTruth } from '../../../functions/core/gitlab/gitlab.ts';
import type { InboxStore } from '../../../functions/core/ledger/store.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';
import { hintText } from '../../../functions/core/truth/webhook-hints.ts';
import type { LocalRouter } from '../../local/router/local-router.ts';
import type { ChaosRun } from './observe.ts';
import { CHAOS_PROJECTS, pathOfProject, rootOf } from './scene.ts';

export interface AskedJob {
  readonly jobId: number;
  readonly projectId: number;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly result: string;
  /** The router's reason if it has no decision. */
  readonly failure?: string;
}

/** Shorter than the estimate of the policy. */
const RUN_MS = { min: 500, spread: 2_500 };
const RECEIVE_TIMEOUT_MS = 10_000;
const RECEIVE_TRIES = 5;
const RECEIVE_PAUSE_MS = 500;
const INBOX_MS = 3_600_000;

export class ChaosLoad {
  readonly asked: AskedJob[] = [];
  readonly runs: ChaosRun[] = [];
  readonly #router: LocalRouter;
  readonly #inbox: InboxStore;
  readonly #random: () => number;
  readonly #open = new Set<Promise<void>>();
  #lastJobId = 0;
  #running = 0;
  /** The most jobs that ran at the same time. */
  runningMost = 0;
  /** Job ends that GitLab has reported. */
  reported = 0;
  /** The largest delay of a request: the machine was busy. */
  lateMs = 0;

  constructor(router: LocalRouter, inbox: InboxStore, random: () => number) {
    this.#router = router;
    this.#inbox = inbox;
    this.#random = random;
  }

  /** Requests jobs until the signal; resolves when all have ended. */
  async run(perSecond: number, until: AbortSignal): Promise<void> {
    const startedMs = performance.now();
    while (!until.aborted) {
      this.#ask();
      const dueMs = startedMs + (this.#lastJobId * 1_000) / perSecond;
      this.lateMs = Math.max(this.lateMs, performance.now() - dueMs);
      await pause(Math.max(0, dueMs - performance.now()));
    }
    await Promise.all(this.#open);
  }

  #ask(): void {
    this.#lastJobId += 1;
    const life = this.#live(this.#lastJobId).finally(() => this.#open.delete(life));
    this.#open.add(life);
  }

  async #live(jobId: number): Promise<void> {
    const projectId = CHAOS_PROJECTS[Math.floor(this.#random() * CHAOS_PROJECTS.length)] ?? 0;
    const runMs = RUN_MS.min + this.#random() * RUN_MS.spread;
    const askedAtMs = performance.now();
    const { result, reason } = await this.#router.admit(questionOf(jobId, projectId));
    const failure = result === 'failed' ? reason : undefined;
    const answeredAtMs = performance.now();
    const job = { jobId, projectId, askedAtMs, answeredAtMs, result, ...(failure && { failure }) };
    this.asked.push(job);
    if (result === 'admitted') {
      this.#running += 1;
      this.runningMost = Math.max(this.runningMost, this.#running);
      const fromMs = performance.now();
      await pause(runMs);
      this.#running -= 1;
      this.runs.push({ jobId, projectId, fromMs, toMs: performance.now() });
    }
    await this.#report(outcomeOf(job, runMs));
  }

  async #report(truth: JobTruth): Promise<void> {
    const nowMs = Date.now();
    const item = {
      id: `webhook ${truth.jobId}`,
      body: hintText({ groupId: rootOf(truth.projectId), truth }),
      receivedAtMs: nowMs,
      untilMs: nowMs + INBOX_MS,
    };
    await this.#receive(item);
    this.reported += 1;
  }

  /** Retries, because no fault is between GitLab and its inbox. */
  async #receive(item: Parameters<InboxStore['receive']>[0]): Promise<void> {
    for (let triesLeft = RECEIVE_TRIES - 1; ; triesLeft -= 1) {
      try {
        await this.#inbox.receive(item, { timeoutMs: RECEIVE_TIMEOUT_MS });
        return;
      } catch (error) {
        if (!(error instanceof LedgerError) || triesLeft === 0) throw error;
        await pause(RECEIVE_PAUSE_MS);
      }
    }
  }
}

/** The job outcome as GitLab's REST API reports it once the job is over. */
export function outcomeOf({ jobId, projectId, result }: AskedJob, ranMs = RUN_MS.min): JobTruth {
  const nowMs = Date.now();
  return {
    ...{ jobId, projectId, projectPath: pathOfProject(projectId), finishedAtMs: nowMs },
    ...(result === 'admitted'
      ? {
          ...{ status: 'success', startedAtMs: nowMs - Math.round(ranMs) },
          ...{ durationSeconds: ranMs / 1_000, runnerId: 12 },
        }
      : { status: 'failed', failureReason: 'job_router_failure' }),
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const questionOf = (jobId: number, projectId: number) => ({
  id: jobId,
  job_info: {
    id: jobId,
    name: 'unit',
    stage: 'test',
    pipeline_id: 5_000 + Math.floor(jobId / 5),
    project_id: projectId,
    project_full_path: pathOfProject(projectId),
    namespace_id: rootOf(projectId),
    root_namespace_id: rootOf(projectId),
    user_id: 7,
    tags: [],
  },
  runner_info: { id: 12, timeout: 3_600, tags: [] },
  image: { name: 'alpine:3.22' },
  variables: [],
});
