import { randomBytes } from 'node:crypto';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { machineClock, type WallClock } from '../clock/clock.ts';
import type { JobQuestion } from '../router/messages.ts';
import { seededRandom } from '../seeded-random.ts';
import { checksum } from '../workload/draws.ts';
import type { HookFaultShares } from './faults.ts';
import { jobFromQuestion } from './job-from-question.ts';
import type { JobEnding } from './jobs.ts';
import { createLocalGitLab, type LocalGitLab, type LocalGitLabOptions } from './local-gitlab.ts';

/** What goes wrong with webhooks here: more than anybody's GitLab does, so that it is seen. */
export const WEBHOOK_FAULTS: HookFaultShares = { lose: 0.05, repeat: 0.03, reorder: 0.04, delay: 0.02 };

/** Jobs kept after their end, for the sweep and for whoever asks; more would fill a machine that runs for days. */
const JOBS_KEPT = 20_000;
const TIMEOUT_SECONDS = 3_600;
const TERMINAL = JOB_STATUSES.filter(isTerminal);

/** A local GitLab whose jobs live as the router lets them. */
export interface PlayedGitLab {
  readonly gitlab: LocalGitLab;
  readonly token: string;
  /** A runner wants the job: the router asks `admit`, and the job runs or fails by the answer. */
  play(question: JobQuestion, admit: () => Promise<{ readonly result: string }>): Promise<void>;
  /** Jobs that have not ended. */
  living(): number;
}

interface PlayedGitLabOptions {
  readonly clock: WallClock;
  readonly seed: number;
  /** The webhook of a project's top-level group. */
  readonly hookFor: NonNullable<LocalGitLabOptions['hookFor']>;
  /** The webhook of a job's end did not come through. */
  readonly onEndLost: (jobId: number) => void;
}

export const newSigningToken = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export function playGitLabSignIn({ clock, seed, hookFor, onEndLost }: PlayedGitLabOptions): PlayedGitLab {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const gitlab = createLocalGitLab({
    clock,
    // The receiver compares a signature's date with the real time.
    wireClock: machineClock,
    random: seededRandom(seed),
    token,
    hookFor,
    faults: { hooks: WEBHOOK_FAULTS },
    onUndelivered: ({ build_id: jobId, build_status: status, build_failure_reason: reason }) => {
      // Nobody misses the end of a job that never ran.
      const tellsOfAnEnd = TERMINAL.some((terminal) => terminal === status) && reason !== REJECTED_BY_ROUTER;
      if (tellsOfAnEnd && typeof jobId === 'number') onEndLost(jobId);
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
    async play(question, admit) {
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
    living: () => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
  };
}

function timeoutOf(question: JobQuestion): number {
  const info = isRecord(question.runner_info) ? question.runner_info : {};
  return typeof info.timeout === 'number' && info.timeout > 0 ? info.timeout : TIMEOUT_SECONDS;
}

/** What a job does when it runs. */
interface JobCourse {
  readonly runsSeconds: number;
  readonly ending: JobEnding;
}

/** A job of one name takes about the same each time: somewhere between these, by its name, a fifth more or less. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

/** The local GitLab's jobs take what they take, whatever the ledger holds for them: sometimes less, sometimes more. */
function jobCourse(name: string, timeoutSeconds: number, random: () => number): JobCourse {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const wanted = usual * (1 - SPREAD + 2 * SPREAD * random());
  const fate = random();
  if (wanted >= timeoutSeconds) {
    return {
      runsSeconds: timeoutSeconds,
      ending: { status: 'failed', failureReason: 'job_execution_timeout' },
    };
  }
  if (fate < FAILS_SHARE) return { runsSeconds: wanted, ending: { status: 'failed' } };
  return {
    runsSeconds: wanted,
    ending: { status: fate < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' },
  };
}
