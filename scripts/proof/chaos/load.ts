/** Jobs that are requested, run and end as in GitLab, with the outcome of each request. */
import { setTimeout as pause } from 'node:timers/promises';
import type { JobTruth } from '../../../functions/core/gitlab/gitlab.ts';
import type { InboxStore } from '../../../functions/core/ledger/store.ts';
import { hintText } from '../../../functions/core/truth/webhook-hints.ts';
import type { LocalRouter } from '../../local/router/local-router.ts';
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
const INBOX_MS = 3_600_000;

export class ChaosLoad {
  readonly asked: AskedJob[] = [];
  readonly #router: LocalRouter;
  readonly #inbox: InboxStore;
  readonly #random: () => number;
  readonly #open: Promise<void>[] = [];
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
      this.#lastJobId += 1;
      this.#open.push(this.#live(this.#lastJobId));
      const dueMs = startedMs + (this.#lastJobId * 1_000) / perSecond;
      this.lateMs = Math.max(this.lateMs, performance.now() - dueMs);
      await pause(Math.max(0, dueMs - performance.now()));
    }
    await Promise.all(this.#open);
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
      await pause(runMs);
      this.#running -= 1;
    }
    await this.#report(outcomeOf(job, runMs));
  }

  /** No fault is between GitLab and its inbox, so a busy table gets a second call. */
  async #report(truth: JobTruth): Promise<void> {
    const receivedAtMs = Date.now();
    const body = hintText({ groupId: rootOf(truth.projectId), truth });
    const item = { id: `webhook ${truth.jobId}`, body, receivedAtMs, untilMs: receivedAtMs + INBOX_MS };
    const receive = () => this.#inbox.receive(item, { timeoutMs: RECEIVE_TIMEOUT_MS });
    await receive().catch(receive);
    this.reported += 1;
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
