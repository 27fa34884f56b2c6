import { isTerminal, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/index.ts';
import type { JobQuestion } from '../router/question.ts';
import type { JobRequestOutcome } from '../router/router-gitlab.ts';
import type { LocalJob, LocalRunner } from './job.ts';
import type { JobBook } from './job-book.ts';
import type { JobLifeMoves } from './pipeline-book.ts';

const TIMEOUT_SECONDS = 3_600;

/** Jobs as runners see them: who may take which, and the token that each gets with its job. */
export class RunnerJobBook {
  readonly #book: JobBook;
  readonly #life: JobLifeMoves;
  readonly #random: () => number;
  readonly #tokens = new Map<number, string>();

  constructor(book: JobBook, life: JobLifeMoves, random: () => number) {
    this.#book = book;
    this.#life = life;
    this.#random = random;
  }

  runnerOf(token: string): LocalRunner | undefined {
    return this.#book.runners().find((runner) => runner.token !== undefined && runner.token === token);
  }

  /** The oldest pending job that the runner of this token may take; it is running there from now on. */
  request(runnerToken: string): JobRequestOutcome {
    const runner = this.runnerOf(runnerToken);
    if (runner === undefined) return { kind: 'refused' };
    const [job] = [...this.#book.jobs()].filter((each) => mayTake(runner, each)).sort((a, b) => a.id - b.id);
    if (job === undefined) return { kind: 'none' };
    this.#life.start(job.id, runner);
    const token = `glcbt-${Math.floor(this.#random() * 2 ** 48).toString(36)}`;
    this.#tokens.set(job.id, token);
    const question = questionOf(job, runner);
    const steps = [
      { name: 'script', script: job.script ?? [], timeout: TIMEOUT_SECONDS, when: 'on_success' },
    ];
    return {
      kind: 'job',
      jobId: job.id,
      runnerId: runner.id,
      payload: { ...question, token, allow_git_fetch: true, steps },
      question,
    };
  }

  /** No controller let it through. */
  fail(jobId: number, message: string): void {
    if (this.#book.job(jobId)?.status === 'running')
      this.#life.end(jobId, { status: 'failed', failureReason: REJECTED_BY_ROUTER, message });
  }

  /** The job, if the token is its own. */
  jobOf(jobId: number, jobToken: string | undefined): LocalJob | undefined {
    return jobToken !== undefined && this.#tokens.get(jobId) === jobToken ? this.#book.job(jobId) : undefined;
  }

  /** What its runner says of a job; of one that has ended meanwhile it is too late. */
  report(job: LocalJob, state: string, failureReason: string | undefined): void {
    if (isTerminal(job.status)) return;
    if (state === 'success') this.#life.end(job.id, { status: 'success' });
    if (state === 'failed')
      this.#life.end(job.id, { status: 'failed', ...(failureReason !== undefined && { failureReason }) });
  }
}

/** Its tags are all among the runner's; a job without tags goes to runners that take such jobs. */
function mayTake(runner: LocalRunner, { status, tags = [] }: LocalJob): boolean {
  if (status !== 'pending' || runner.paused === true) return false;
  const own = runner.tags ?? [];
  return tags.length === 0
    ? (runner.runUntagged ?? own.length === 0)
    : tags.every((tag) => own.includes(tag));
}

/** What the router is told of a job: everything but its secrets. */
function questionOf(job: LocalJob, runner: LocalRunner): JobQuestion {
  const { id, name, stage = 'test', pipelineId = id, projectId, projectPath, userId = 1, ref = 'main' } = job;
  return {
    id,
    job_info: {
      ...{ id, name, stage, pipeline_id: pipelineId, project_id: projectId, user_id: userId },
      project_name: projectPath.slice(projectPath.lastIndexOf('/') + 1),
      project_full_path: projectPath,
      tags: job.tags ?? [],
    },
    git_info: { ref, ref_type: 'branch', protected: true },
    runner_info: {
      timeout: TIMEOUT_SECONDS,
      uuid: `runner-${runner.id}`,
      id: runner.id,
      tags: runner.tags ?? [],
    },
    variables: [
      { key: 'CI_PROJECT_PATH', value: projectPath, public: true },
      { key: 'CI_PIPELINE_SOURCE', value: 'api', public: true },
      { key: 'CI_RUNNER_ID', value: String(runner.id), public: true },
    ],
    image: { name: 'alpine:3.22' },
  };
}
