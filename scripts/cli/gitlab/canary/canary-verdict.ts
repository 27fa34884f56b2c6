/** Judges both decisions by two ended jobs and our responses. Pure. */
import { type CanaryJob, REJECTED_BY_ROUTER } from '../../../../functions/core/gitlab/index.ts';
import type { ArmOutcome } from '../../../../functions/core/ledger/index.ts';
import type { SetupLine } from '../setup-line.ts';
import type { AskedAnswer } from './canary-streams.ts';

const RUNS = 'tollgate-canary-runs';
const FAILS = 'tollgate-canary-fails';
/** As the canary's .gitlab-ci.yml calls them. */
export const CANARY_JOBS: readonly string[] = [RUNS, FAILS];
export const isToRun = ({ name }: Pick<CanaryJob, 'name'>): boolean => name === RUNS;

/** One of the two jobs, when it was looked at last. */
interface CanaryEvidence {
  readonly job: CanaryJob;
  /** Undefined: GitLab never asked about it. */
  readonly asked: AskedAnswer | undefined;
  /** Why it failed, in GitLab's words; undefined: it did not, or GitLab did not say. */
  readonly message: string | undefined;
}

interface CanaryVerdict {
  readonly admitted: ArmOutcome;
  readonly rejected: ArmOutcome;
  readonly lines: readonly SetupLine[];
}

type Half = { readonly outcome: ArmOutcome; readonly line: SetupLine };

const SWAPPED =
  'these descriptors are not of this GitLab: npm run proto:sync -- --ref v<version of KAS>, then the canary again; do not arm';
const BYPASS =
  'let the runner use the job router (FF_USE_JOB_ROUTER) and look whether it falls back: tollgate fleet ls; GitLab needs the flag job_router_admission_control';
const NOBODY =
  'start the runner, look at its tag and whether it may take jobs of this project; or give it more time with --wait';

/** @param text - our words, by which the rejected job is known again */
export function canaryVerdict(runs: CanaryEvidence, fails: CanaryEvidence, text: string): CanaryVerdict {
  const swapped = stopped(runs) && ran(fails) && runs.asked !== undefined && fails.asked !== undefined;
  const admitted = swapped
    ? half(
        'admitted',
        'contrary',
        `"admitted" failed job ${runs.job.id}: GitLab took it for the other arm`,
        SWAPPED,
      )
    : admittedHalf(runs);
  const rejected = rejectedHalf(fails, text);
  return {
    ...{ admitted: admitted.outcome, rejected: rejected.outcome },
    lines: [admitted.line, rejected.line],
  };
}

function admittedHalf(evidence: CanaryEvidence): Half {
  const { job, asked, message } = evidence;
  const name = `job ${job.id}`;
  if (!isOver(evidence))
    return half('admitted', 'unreached', `${name} is ${job.status}: no runner took it`, NOBODY);
  if (asked === undefined)
    return ran(evidence)
      ? half('admitted', 'bypassed', `${name} ran and GitLab never asked about it`, BYPASS)
      : half('admitted', 'unreached', `${name} failed before anybody was asked: ${whyOf(evidence)}`, NOBODY);
  if (ran(evidence)) return half('admitted', 'proven', `we admitted ${name}, and it ran`);
  if (!asked.heard)
    return half('admitted', 'contrary', `the router did not take "admitted" for ${name}`, SWAPPED);
  return half(
    'admitted',
    'unreached',
    `we admitted ${name}, and it failed all the same: ${message ?? job.failure_reason ?? 'GitLab does not say why'}`,
    'another controller may have rejected it: let the rules of yours pass this project, then the canary again',
  );
}

function rejectedHalf(evidence: CanaryEvidence, text: string): Half {
  const { job, asked, message } = evidence;
  const name = `job ${job.id}`;
  if (!isOver(evidence))
    return half('rejected', 'unreached', `${name} is ${job.status}: no runner took it`, NOBODY);
  if (asked === undefined)
    return ran(evidence)
      ? half('rejected', 'bypassed', `${name} ran and GitLab never asked about it`, BYPASS)
      : half('rejected', 'unreached', `${name} failed before anybody was asked: ${whyOf(evidence)}`, NOBODY);
  if (ran(evidence))
    return half(
      'rejected',
      'contrary',
      `we rejected ${name}, and it ran: GitLab took it for the other arm`,
      SWAPPED,
    );
  if (!stopped(evidence) || (message !== undefined && !message.includes(text)))
    return half(
      'rejected',
      'unreached',
      `we rejected ${name}, and it failed for another reason: ${whyOf(evidence)}`,
      'another controller may have been asked before: let the rules of yours pass this project, then the canary again',
    );
  if (message === undefined)
    return half('rejected', 'proven', `we rejected ${name}, and it failed; GitLab did not tell its text`);
  return half('rejected', 'proven', `we rejected ${name}, and it failed with our text`);
}

const half = (part: 'admitted' | 'rejected', outcome: ArmOutcome, says: string, remedy?: string): Half => ({
  outcome,
  line: {
    ...{ part, says, standing: outcome === 'proven' ? 'right' : 'wrong' },
    ...(remedy !== undefined && { remedy }),
  },
});

const stopped = ({ job }: CanaryEvidence): boolean => job.failure_reason === REJECTED_BY_ROUTER;
/** Failed on the runner counts: the router let it through. */
const ran = ({ job }: CanaryEvidence): boolean =>
  job.status === 'success' || (job.status === 'failed' && job.failure_reason !== REJECTED_BY_ROUTER);
const isOver = ({ job }: CanaryEvidence): boolean => job.status === 'success' || job.status === 'failed';
const whyOf = ({ job, message }: CanaryEvidence): string => message ?? job.failure_reason ?? job.status;
