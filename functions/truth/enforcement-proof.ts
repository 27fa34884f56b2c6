/**
 * The books against GitLab, job by job: did what was rejected really fail, did what was admitted run, was every job that
 * ran seen? Pure: records and truths in, findings out.
 */
import { isTerminal, type JobStatus, type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/job-truth.ts';
import type { JobRecord, JobState } from '../ledger/ledger.ts';
import { isLive, settleMove } from '../ledger/settle.ts';

export type FindingKind =
  /** We rejected it, and it ran. */
  | 'rejected_ran'
  /** It ran, and nobody asked us. */
  | 'unseen'
  /** We admitted it, and the router let it fail all the same: another controller, or a lost answer. */
  | 'admitted_rejected'
  /** We hold for a job that is over and never began. */
  | 'never_started'
  /** We hold for a job that is over. */
  | 'ended'
  /** We hold for a job that GitLab does not know. */
  | 'gone'
  /** We gave its hold back, and it ran. */
  | 'released_ran'
  /** It ran longer or shorter than it was charged for. */
  | 'duration';

/** What the sweep would do about it. `wait`: the job still runs. `none`: it is done already, and only worth knowing. */
export type Remedy = 'settle' | 'release' | 'expire' | 'correct' | 'charge as bypass' | 'wait' | 'none';

export interface Finding {
  readonly kind: FindingKind;
  readonly remedy: Remedy;
  readonly jobId: number;
  readonly projectId?: number;
  readonly projectPath?: string;
  /** Absent: the ledger has no record. */
  readonly state?: JobState;
  /** Absent: GitLab knows no such job. */
  readonly status?: JobStatus;
  readonly chargedSeconds?: number;
  readonly ranSeconds?: number;
}

export interface ProofFigures {
  /** Jobs compared: GitLab was asked about each, or told of it by itself. */
  readonly compared: number;
  readonly rejected: number;
  /** Rejected, and it ran. */
  readonly rejectedRan: number;
  readonly admitted: number;
  readonly admittedRan: number;
  /** Jobs that ran, whoever let them. */
  readonly ran: number;
  /** Of those: without an admission. */
  readonly unadmitted: number;
  /** Of those: the ledger has no record at all. */
  readonly unseen: number;
}

/** One job from both sides; at least one of them is there. */
export interface ComparedJob {
  readonly record?: JobRecord | undefined;
  /** Undefined: GitLab was asked and knows no such job. */
  readonly truth?: JobTruth | undefined;
}

export interface EnforcementProof {
  readonly figures: ProofFigures;
  readonly findings: readonly Finding[];
}

export function enforcementProof(jobs: Iterable<ComparedJob>): EnforcementProof {
  const findings: Finding[] = [];
  const figures = {
    compared: 0,
    rejected: 0,
    rejectedRan: 0,
    admitted: 0,
    admittedRan: 0,
    ran: 0,
    unadmitted: 0,
    unseen: 0,
  };
  for (const { record, truth } of jobs) {
    figures.compared += 1;
    const ran = truth !== undefined && hasRun(truth);
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
    const finding = findingOf(record, truth);
    if (finding !== undefined) findings.push(finding);
  }
  return { figures, findings };
}

/** Jobs that ran without an admission ÷ jobs that ran; 0 where none ran. */
export const unadmittedShare = ({ ran, unadmitted }: ProofFigures): number =>
  ran === 0 ? 0 : unadmitted / ran;

/** A job the router rejects is shown as running for a moment: its reason tells, not its times. */
export const hasRun = ({ status, startedAtMs, failureReason }: JobTruth): boolean =>
  failureReason !== REJECTED_BY_ROUTER &&
  (status === 'running' || status === 'canceling' || status === 'success' || startedAtMs !== undefined);

/** One that ran in spite of its rejection is charged as a bypass and settled by now. */
const wasRejected = ({ state, violations, unchecked }: JobRecord): boolean =>
  state === 'REJECTED' || (violations.length > 0 && unchecked === 'bypass');

function findingOf(record: JobRecord | undefined, truth: JobTruth | undefined): Finding | undefined {
  const found = record === undefined ? unseen(truth) : compared(record, truth);
  if (found === undefined) return undefined;
  const jobId = record?.jobId ?? truth?.jobId ?? 0;
  const projectId = record?.facts.projectId ?? truth?.projectId;
  const projectPath = truth?.projectPath ?? record?.facts.projectPath;
  const ranSeconds = truth === undefined ? undefined : ranSecondsOf(truth);
  return {
    ...found,
    jobId,
    ...(projectId !== undefined && { projectId }),
    ...(projectPath !== undefined && { projectPath }),
    ...(record !== undefined && { state: record.state }),
    ...(truth !== undefined && { status: truth.status }),
    ...(record?.durationSeconds !== undefined && { chargedSeconds: record.durationSeconds }),
    ...(ranSeconds !== undefined && { ranSeconds }),
  };
}

type Found = Pick<Finding, 'kind' | 'remedy'>;

const unseen = (truth: JobTruth | undefined): Found | undefined =>
  truth === undefined || !hasRun(truth)
    ? undefined
    : { kind: 'unseen', remedy: isTerminal(truth.status) ? 'charge as bypass' : 'wait' };

function compared(record: JobRecord, truth: JobTruth | undefined): Found | undefined {
  const live = isLive(record);
  // GitLab forgets jobs of deleted projects: only a hold is worth asking about.
  if (truth === undefined) return live ? { kind: 'gone', remedy: 'expire' } : undefined;
  const over = isTerminal(truth.status);
  if (wasRejected(record)) return hasRun(truth) ? ranThough('rejected_ran', record, truth) : undefined;
  if (hasRun(truth)) {
    if (live) return over ? { kind: 'ended', remedy: 'settle' } : undefined;
    return ranThough(record.state === 'SETTLED' ? 'duration' : 'released_ran', record, truth);
  }
  const byRouter = truth.failureReason === REJECTED_BY_ROUTER;
  if (live && over) return { kind: byRouter ? 'admitted_rejected' : 'never_started', remedy: 'release' };
  // What was charged for a job that never ran is more than it ought to be.
  if (record.state === 'SETTLED' && byRouter && record.durationSeconds !== 0)
    return { kind: 'admitted_rejected', remedy: 'correct' };
  return undefined;
}

/** The ledger's own settlement decides whether there is anything to do. */
function ranThough(kind: FindingKind, record: JobRecord, truth: JobTruth): Found | undefined {
  if (!isTerminal(truth.status)) return { kind, remedy: 'wait' };
  const durationSeconds = ranSecondsOf(truth);
  const known = kind === 'rejected_ran' ? ({ kind, remedy: 'none' } as const) : undefined;
  if (durationSeconds === undefined) return known;
  const end = { jobId: record.jobId, durationSeconds, endedAtMs: truth.finishedAtMs ?? 0 };
  switch (settleMove(record, end, 0).outcome) {
    case 'applied':
      return { kind, remedy: 'settle' };
    case 'corrected':
      return { kind, remedy: 'correct' };
    default:
      return known;
  }
}

/** As GitLab counts, else from its times; undefined while it runs or where GitLab says neither. */
export function ranSecondsOf({ durationSeconds, startedAtMs, finishedAtMs }: JobTruth): number | undefined {
  if (durationSeconds !== undefined) return durationSeconds;
  if (startedAtMs === undefined || finishedAtMs === undefined) return undefined;
  return Math.max(0, finishedAtMs - startedAtMs) / 1000;
}
