/** Judges both answers by two ended jobs and our responses. Pure. */

import { REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import type { CanaryJob } from '../../../functions/core/gitlab/pipelines.ts';
import type { ArmOutcome } from '../../../functions/core/ledger/controller.ts';
import type { SentAnswer } from './canary-streams.ts';
import type { SetupLines } from './setup-step.ts';

const RUNS = 'tollgate-canary-runs';
const FAILS = 'tollgate-canary-fails';

/** Names in the canary's .gitlab-ci.yml. */
export const CANARY_JOBS: readonly string[] = [RUNS, FAILS];

export const isToRun = ({ name }: Pick<CanaryJob, 'name'>): boolean => name === RUNS;

/** One of the two jobs, when it was read last. */
interface CanaryEvidence {
  readonly job: CanaryJob;
  /** Undefined: GitLab never asked about it. */
  readonly sent: SentAnswer | undefined;
  /** GitLab's text about the failure. Undefined: none. */
  readonly message: string | undefined;
}

type Verdict = readonly [outcome: ArmOutcome, says: string, remedy?: string];

const SWAPPED =
  'these descriptors are not of this GitLab: npm run proto:sync -- --ref v<version of KAS>, then the canary again; do not arm';
const BYPASS =
  'let the runner use the job router (FF_USE_JOB_ROUTER) and look whether it falls back: tollgate fleet ls; GitLab needs the flag job_router_admission_control';
const NO_RUNNER =
  'start the runner, look at its tag and whether it may take jobs of this project; or give it more time with --wait';
const ANOTHER =
  'another controller may have rejected it: let its rules pass this project, then the canary again';

/** Adds a line for each answer. @param text - our reason, by which the rejected job is recognised */
export function judgeCanaryJobs(
  runs: CanaryEvidence,
  fails: CanaryEvidence,
  text: string,
  lines: SetupLines,
): { readonly admitted: ArmOutcome; readonly rejected: ArmOutcome } {
  const isSwapped = isStopped(runs) && hasRun(fails) && runs.sent !== undefined && fails.sent !== undefined;
  const swapped: Verdict = [
    'contrary',
    `"admitted" failed job ${runs.job.id}: GitLab took it for the other arm`,
    SWAPPED,
  ];
  const judged = (part: 'admitted' | 'rejected', [outcome, says, remedy]: Verdict): ArmOutcome => {
    lines.add(part, outcome === 'proven' ? 'right' : 'wrong', says, remedy);
    return outcome;
  };
  return {
    admitted: judged('admitted', isSwapped ? swapped : (unasked(runs) ?? admittedVerdict(runs))),
    rejected: judged('rejected', unasked(fails) ?? rejectedVerdict(fails, text)),
  };
}

/** Undefined: GitLab asked about the job, and it has ended. */
function unasked(evidence: CanaryEvidence): Verdict | undefined {
  const { id, status } = evidence.job;
  if (status !== 'success' && status !== 'failed')
    return ['unreached', `job ${id} is ${status}: no runner took it`, NO_RUNNER];
  if (evidence.sent !== undefined) return undefined;
  return hasRun(evidence)
    ? ['bypassed', `job ${id} ran and GitLab never asked about it`, BYPASS]
    : ['unreached', `job ${id} failed before anybody was asked: ${causeOf(evidence)}`, NO_RUNNER];
}

function admittedVerdict(evidence: CanaryEvidence): Verdict {
  const { id } = evidence.job;
  if (hasRun(evidence)) return ['proven', `we admitted job ${id}, and it ran`];
  if (evidence.sent?.heard !== true)
    return ['contrary', `the router did not take "admitted" for job ${id}`, SWAPPED];
  return ['unreached', `we admitted job ${id}, and it failed all the same: ${causeOf(evidence)}`, ANOTHER];
}

function rejectedVerdict(evidence: CanaryEvidence, text: string): Verdict {
  const { job, message } = evidence;
  const rejected = `we rejected job ${job.id}, and it`;
  if (hasRun(evidence)) return ['contrary', `${rejected} ran: GitLab took it for the other arm`, SWAPPED];
  if (!isStopped(evidence) || (message !== undefined && !message.includes(text)))
    return ['unreached', `${rejected} failed for another reason: ${causeOf(evidence)}`, ANOTHER];
  return ['proven', `${rejected} failed${message === undefined ? '' : ' with our text'}`];
}

const isStopped = ({ job }: CanaryEvidence): boolean => job.failure_reason === REJECTED_BY_ROUTER;

/** A job that failed on the runner has run, too: the router let it through. */
const hasRun = ({ job }: CanaryEvidence): boolean =>
  job.status === 'success' || (job.status === 'failed' && job.failure_reason !== REJECTED_BY_ROUTER);

const causeOf = ({ job, message }: CanaryEvidence): string => message ?? job.failure_reason ?? job.status;
