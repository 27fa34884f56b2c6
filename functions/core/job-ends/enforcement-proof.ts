/** Compares records with GitLab, job by job: rejected jobs failed, admitted ones ran, and every job that ran was seen. Pure. */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type GitLabJob, isTerminal, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import { type ControllerScope, isOutOfScope } from '../ledger/controller.ts';
import type { JobRecord } from '../ledger/ledger.ts';
import { isLive, wasRejected } from '../ledger/settle.ts';
import { actionForJob, type JobAction, jobSeconds } from './actions.ts';

export type FindingKind =
  | 'rejected_ran'
  | 'unseen'
  /** We admitted it, and the router let it fail all the same: another controller, or a lost answer. */
  | 'admitted_rejected'
  | 'never_started'
  | 'ended'
  | 'gone'
  | 'released_ran'
  | 'duration';

/** The sweep's action. `wait`: the job still runs, or its hold is not due. `none`: nothing is left to do. */
type Remedy = 'settle' | 'release' | 'expire' | 'correct' | 'charge as bypass' | 'wait' | 'none';

export type ProofFinding = ReturnType<typeof toFinding>;

const NO_FIGURES = {
  ...{ compared: 0, rejected: 0, rejectedRan: 0, admitted: 0, admittedRan: 0 },
  ...{ ran: 0, unadmitted: 0, unseen: 0, outOfScope: 0 },
};
type ProofFigures = Readonly<typeof NO_FIGURES>;

interface ComparedJob {
  readonly record?: JobRecord | undefined;
  readonly gitlabJob?: GitLabJob | undefined;
}

/** @returns `actions`: the sweep's own, of the findings that have a remedy */
export function enforcementProof(jobs: Iterable<ComparedJob>, nowMs: number, scope?: ControllerScope) {
  const findings: ProofFinding[] = [];
  const actions: JobAction[] = [];
  const figures = { ...NO_FIGURES };
  for (const { record, gitlabJob } of jobs) {
    figures.compared += 1;
    const ran = gitlabJob !== undefined && hasRun(gitlabJob);
    if (ran && record === undefined && isOutOfScope(gitlabJob, scope, nowMs)) {
      figures.outOfScope += 1;
      continue;
    }
    const rejected = record !== undefined && wasRejected(record);
    if (rejected) figures.rejected += 1;
    else if (record !== undefined && record.unchecked !== 'bypass') figures.admitted += 1;
    if (ran) {
      figures.ran += 1;
      if (record === undefined) figures.unseen += 1;
      if (rejected) figures.rejectedRan += 1;
      if (record === undefined || rejected || record.unchecked === 'bypass') figures.unadmitted += 1;
      else figures.admittedRan += 1;
    }
    const action = actionForJob(record, gitlabJob, nowMs);
    const kind = findKind(record, gitlabJob, action);
    if (kind === undefined) continue;
    const remedy = findRemedy(record, gitlabJob, action);
    findings.push(toFinding(kind, remedy, { record, gitlabJob }));
    if (remedy !== 'wait' && remedy !== 'none') actions.push(action);
  }
  return { figures, findings, actions };
}

export const unadmittedShare = ({ ran, unadmitted }: ProofFigures): number =>
  ran === 0 ? 0 : unadmitted / ran;

/** GitLab shows a rejected job as running for a moment, so its failure reason decides, not its times. */
const hasRun = ({ status, startedAtMs, failureReason }: GitLabJob): boolean =>
  failureReason !== REJECTED_BY_ROUTER &&
  (status === 'running' || status === 'canceling' || status === 'success' || startedAtMs !== undefined);

function toFinding(kind: FindingKind, remedy: Remedy, { record, gitlabJob }: ComparedJob) {
  return {
    ...{ kind, remedy, jobId: record?.jobId ?? gitlabJob?.jobId ?? 0 },
    ...withoutAbsent({
      projectId: record?.facts.projectId ?? gitlabJob?.projectId,
      projectPath: gitlabJob?.projectPath ?? record?.facts.projectPath,
      state: record?.state,
      status: gitlabJob?.status,
      chargedSeconds: record?.durationSeconds,
      ranSeconds: gitlabJob && jobSeconds(gitlabJob),
    }),
  };
}

/** Undefined: both sides say the same, or nothing that could be compared. */
function findKind(
  record: JobRecord | undefined,
  gitlabJob: GitLabJob | undefined,
  action: JobAction,
): FindingKind | undefined {
  // GitLab forgets jobs of deleted projects: only a hold is worth asking about.
  if (gitlabJob === undefined) return record !== undefined && isLive(record) ? 'gone' : undefined;
  const ran = hasRun(gitlabJob);
  if (record === undefined) return ran ? 'unseen' : undefined;
  if (wasRejected(record)) return ran ? 'rejected_ran' : undefined;
  const differs = action.do === 'settle' || action.do === 'release';
  if (isLive(record)) {
    if (!differs) return undefined;
    if (ran) return 'ended';
    return gitlabJob.failureReason === REJECTED_BY_ROUTER ? 'admitted_rejected' : 'never_started';
  }
  if (ran && record.state !== 'SETTLED') return 'released_ran';
  if (!differs) return undefined;
  return ran ? 'duration' : 'admitted_rejected';
}

function findRemedy(
  record: JobRecord | undefined,
  gitlabJob: GitLabJob | undefined,
  action: JobAction,
): Remedy {
  switch (action.do) {
    case 'settle':
      return record === undefined || isLive(record) || record.state === 'REJECTED' ? 'settle' : 'correct';
    case 'release':
    case 'expire':
      return action.do;
    case 'charge':
      return 'charge as bypass';
    case 'postpone':
      return 'wait';
    case 'keep':
      return gitlabJob !== undefined && isTerminal(gitlabJob.status) ? 'none' : 'wait';
  }
}
