import type { AdmissionResult } from './admission.ts';
import type { RegisteredController } from './controllers.ts';
import { encodeGetJob } from './get-job.ts';
import type { JobQuestion } from './question.ts';

/** GitLab as its job router asks it: who its controllers are, which job waits for a runner, what became of one. */
export interface RouterGitLab {
  /** In the order they are asked. Read anew for every job and every stream. */
  controllers(): readonly RegisteredController[];
  /** Notes that a controller's token was shown. */
  tokenUsed(token: string): void;
  /** Hands out the oldest job that this runner may take: from now on it runs there. */
  requestJob(runnerToken: string): JobRequestOutcome;
  /** What no controller let through fails with `job_router_failure`. */
  failJob(jobId: number, message: string): void;
}

export type JobRequestOutcome =
  | { readonly kind: 'refused' }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'job';
      readonly jobId: number;
      readonly runnerId: number;
      /** What the runner gets; with its job token, so never told to a controller. */
      readonly payload: object;
      readonly question: JobQuestion;
    };

/**
 * What a runner gets for its GetJob: bytes of the response, or undefined for a token GitLab does not know. A job that was
 * stopped fails in GitLab with the controller's reason; its runner hears of no job.
 */
export async function answerGetJob(
  runnerToken: string,
  gitlab: RouterGitLab,
  admit: (question: JobQuestion, runnerId: number) => Promise<AdmissionResult>,
): Promise<Uint8Array | undefined> {
  const asked = gitlab.requestJob(runnerToken);
  if (asked.kind === 'refused') return undefined;
  if (asked.kind === 'none') return encodeGetJob(undefined);
  const {
    result,
    reason = 'no reason was given',
    controllerId,
  } = await admit(asked.question, asked.runnerId);
  if (result === 'admitted' || result === 'disabled') return encodeGetJob(asked.payload);
  gitlab.failJob(asked.jobId, `Runner controller ${controllerId}: ${reason}`);
  return encodeGetJob(undefined);
}
