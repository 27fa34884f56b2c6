import { randomBytes } from 'node:crypto';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { machineClock, type WallClock } from '../clock/clock.ts';
import type { JobQuestion } from '../router/messages.ts';
import { seededRandom } from '../seeded-random.ts';
import { checksum } from '../workload/draw-pipeline.ts';
import type { HookFaultShares } from './faults.ts';
import type { JobEnding, LocalRunner, NewJob } from './jobs.ts';
import { createLocalGitLab, type LocalGitLabOptions } from './local-gitlab.ts';

/** Far more webhooks fail here than at any real GitLab, so that the sweep has work to show. */
export const WEBHOOK_FAULTS: HookFaultShares = { lose: 0.05, repeat: 0.03, reorder: 0.04, delay: 0.02 };

/** Jobs kept after their end; more would fill the memory of a run of days. */
const JOBS_KEPT = 20_000;
const TIMEOUT_SECONDS = 3_600;
const TERMINAL = JOB_STATUSES.filter(isTerminal);

interface PlayedGitLabOptions {
  readonly clock: WallClock;
  readonly seed: number;
  /** The webhook of a project's top-level group. */
  readonly hookFor: NonNullable<LocalGitLabOptions['hookFor']>;
  /** Called when the webhook of a job's end failed. */
  readonly onEndLost: (jobId: number) => void;
}

export const newSigningToken = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Creates a local GitLab whose jobs run or fail as the router decides. */
export function playGitLab({ clock, seed, hookFor, onEndLost }: PlayedGitLabOptions) {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const gitlab = createLocalGitLab({
    clock,
    // Receivers compare a signature's date with the real time.
    wireClock: machineClock,
    random: seededRandom(seed),
    token,
    hookFor,
    faults: { hooks: WEBHOOK_FAULTS },
    onUndelivered: ({ build_id: jobId, build_status: status, build_failure_reason: reason }) => {
      // A rejected job holds nothing, so a lost webhook of its end does no harm.
      const isEnd = TERMINAL.some((terminal) => terminal === status) && reason !== REJECTED_BY_ROUTER;
      if (isEnd && typeof jobId === 'number') onEndLost(jobId);
    },
  });
  const random = seededRandom(seed + 1);
  const asked: number[] = [];
  const hasEnded = (jobId: number | undefined): boolean => {
    const job = jobId === undefined ? undefined : gitlab.job(jobId);
    return job !== undefined && isTerminal(job.status);
  };
  return {
    gitlab,
    token,
    /** Creates the job, and runs or fails it by the decision of `admit`. */
    async play(question: JobQuestion, admit: () => Promise<{ readonly result: string }>): Promise<void> {
      const { job, runner } = jobFromQuestion(question);
      gitlab.create(job);
      asked.push(job.id);
      const { runsSeconds, ending } = jobCourse(job.name, timeoutOf(question), random);
      const { result } = await admit();
      if (result === 'admitted' || result === 'disabled') {
        gitlab.play(job.id, { runner, runsMs: runsSeconds * 1000, ending });
      } else gitlab.reject(job.id, runner);
      while (asked.length > JOBS_KEPT && hasEnded(asked[0])) gitlab.forget(asked.shift() ?? 0);
    },
    /** The number of jobs that have not ended. */
    living: (): number => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
  };
}

function timeoutOf(question: JobQuestion): number {
  const info = isRecord(question.runner_info) ? question.runner_info : {};
  return typeof info.timeout === 'number' && info.timeout > 0 ? info.timeout : TIMEOUT_SECONDS;
}

/** Duration and ending of a job that runs. */
interface JobCourse {
  readonly runsSeconds: number;
  readonly ending: JobEnding;
}

/** A job's name gives its usual duration, between these; each run differs by up to a fifth. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

function jobCourse(name: string, timeoutSeconds: number, random: () => number): JobCourse {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const wanted = usual * (1 - SPREAD + 2 * SPREAD * random());
  const outcome = random();
  if (wanted >= timeoutSeconds) {
    return {
      runsSeconds: timeoutSeconds,
      ending: { status: 'failed', failureReason: 'job_execution_timeout' },
    };
  }
  if (outcome < FAILS_SHARE) return { runsSeconds: wanted, ending: { status: 'failed' } };
  return {
    runsSeconds: wanted,
    ending: { status: outcome < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' },
  };
}

/** Returns the job and the runner of an admission request. */
export function jobFromQuestion(question: JobQuestion): { job: NewJob; runner: LocalRunner } {
  const info = isRecord(question.job_info) ? question.job_info : {};
  const git = isRecord(question.git_info) ? question.git_info : {};
  const runner = isRecord(question.runner_info) ? question.runner_info : {};
  const environment = variable(question, 'CI_ENVIRONMENT_NAME');
  const jobTags = texts(info.tags);
  return {
    job: {
      id: number(question.id, 'id'),
      projectId: number(info.project_id, 'job_info.project_id'),
      projectPath: text(info.project_full_path),
      name: text(info.name),
      stage: text(info.stage),
      pipelineId: number(info.pipeline_id, 'job_info.pipeline_id'),
      userId: number(info.user_id, 'job_info.user_id'),
      ref: text(git.ref),
      tags: jobTags,
      ...(environment !== undefined && { environment }),
    },
    runner: { id: number(runner.id, 'runner_info.id'), tags: texts(runner.tags) },
  };
}

function number(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  throw new Error(`${name} of the admission request is not a number; the local GitLab finds the job by it`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function variable(question: JobQuestion, key: string): string | undefined {
  const variables = Array.isArray(question.variables) ? question.variables : [];
  const found = variables.find((one: unknown) => isRecord(one) && one.key === key);
  return isRecord(found) && typeof found.value === 'string' ? found.value : undefined;
}
