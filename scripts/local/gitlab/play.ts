import { randomBytes } from 'node:crypto';
import { isTerminal, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import { machineClock, stoppable, type WallClock } from '../clock.ts';
import type { PipelineQuestion } from '../pipeline-router.ts';
import { checksum, seededRandom } from '../random.ts';
import { createLocalGitLab } from './local-gitlab.ts';
import type { JobEnding, NewJob } from './state.ts';

/** Far more webhooks fail here than at any real GitLab, so that the sweep has work to show. */
export const WEBHOOK_FAULTS = { lose: 0.05, repeat: 0.03 } as const;

const REJECTED_MS = 90;

interface PlayedGroup {
  readonly id: number;
  readonly path: string;
  readonly url: string;
  readonly signingToken: string;
}

/** A GitLab with a webhook on each root group that plays the jobs it is asked about to their end. */
export function playGitLab(clock: WallClock, roots: readonly PlayedGroup[]) {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const timers = stoppable(clock);
  const gitlab = createLocalGitLab({
    ...{ clock, token, wireClock: machineClock, random: seededRandom(1), hookFaults: WEBHOOK_FAULTS },
    administration: { groups: roots.map(({ id, path }) => ({ id, path })) },
  });
  for (const { id, url, signingToken } of roots)
    gitlab.groupHooks.make(id, { url, signing_token: signingToken, job_events: true });
  const random = seededRandom(2);
  const endAfter = (delayMs: number, jobId: number, ending: JobEnding): void =>
    void timers.after(delayMs, () => {
      if (gitlab.job(jobId)?.status === 'running') gitlab.end(jobId, ending);
    });
  return {
    gitlab,
    token,
    async play(question: PipelineQuestion, admit: () => Promise<{ readonly result: string }>): Promise<void> {
      const { id, runner_info: runner } = question;
      gitlab.create(newJob(question));
      const { runsMs, ending } = jobCourse(question.job_info.name, runner.timeout, random);
      const { result } = await admit();
      if (result === 'admitted' || result === 'disabled')
        timers.after(0, () => {
          if (gitlab.job(id)?.status !== 'pending') return;
          gitlab.start(id, runner);
          endAfter(runsMs, id, ending);
        });
      else {
        gitlab.start(id, runner);
        endAfter(REJECTED_MS, id, { status: 'failed', failureReason: REJECTED_BY_ROUTER });
      }
    },
    living: (): number => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
    stop(): void {
      timers.stop();
      gitlab.stop();
    },
  };
}

/** A job's name gives its usual duration, between these; each run differs by up to a fifth. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

function jobCourse(name: string, timeoutSeconds: number, random: () => number) {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const seconds = usual * (1 - SPREAD + 2 * SPREAD * random());
  const outcome = random();
  let ending: JobEnding = { status: outcome < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' };
  if (outcome < FAILS_SHARE) ending = { status: 'failed' };
  if (seconds >= timeoutSeconds) ending = { status: 'failed', failureReason: 'job_execution_timeout' };
  return { runsMs: Math.min(seconds, timeoutSeconds) * 1000, ending };
}

function newJob({ id, job_info: info, git_info: git, variables }: PipelineQuestion): NewJob {
  const environment = variables.find(({ key }) => key === 'CI_ENVIRONMENT_NAME')?.value;
  return {
    ...{ id, name: info.name, stage: info.stage, ref: git.ref, tags: info.tags },
    ...{ projectId: info.project_id, projectPath: info.project_full_path },
    ...{ pipelineId: info.pipeline_id, userId: info.user_id },
    ...(environment !== undefined && { environment }),
  };
}
