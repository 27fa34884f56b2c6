/** A job that ran without having been asked about: what it would have asked for, by the rules of now. */

import { evaluate } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Rules } from '../admission/index.ts';
import type { JobTruth } from '../gitlab/index.ts';
import type { BypassAsk, JobEnd } from '../ledger/index.ts';

/**
 * Jobs that started earlier are charged to today's period: their own may be closed, and a closed period
 * takes no new records. Shorter than the month that periods stay open.
 */
const LATE_MS = 28 * DAY_MS;

interface BypassFound {
  readonly ask: BypassAsk;
  /** The job's group is not in the directory: only some of its limits were charged. */
  readonly unknownGroup: boolean;
}

/**
 * GitLab's word says less than an admission request does. What rules would have said about the rest (images, variables)
 * is not known and not noted: only the counters matter now.
 */
export function bypassAsk(truth: JobTruth, end: JobEnd, rules: Rules, nowMs: number): BypassFound {
  const request = requestOf(truth);
  const decidedAtMs = admittedAtMs(truth, end, nowMs);
  const { facts, claims, unknownGroup } = evaluate(request, { ...rules, nowMs: decidedAtMs });
  return { ask: { ...end, decidedAtMs, facts, claims, violations: [], unchecked: 'bypass' }, unknownGroup };
}

/** The timeout is unknown: the policy's is assumed, and cuts nothing. */
function requestOf(truth: JobTruth): AdmissionRequest {
  const { jobId, projectId, projectPath, jobName, jobStage, pipelineId, userId, ref, environment } = truth;
  const { runnerId, runnerTags } = truth;
  return {
    jobId,
    projectId,
    ...withoutAbsent({
      projectPath,
      jobName,
      jobStage,
      pipelineId,
      userId,
      ref,
      environment,
      runnerId,
      runnerTags,
    }),
  };
}

/** A job belongs to the period of its admission, which would have been just before its start. */
function admittedAtMs(
  { startedAtMs }: JobTruth,
  { endedAtMs, durationSeconds }: JobEnd,
  nowMs: number,
): number {
  const atMs = startedAtMs ?? endedAtMs - durationSeconds * 1000;
  return atMs > nowMs || nowMs - atMs > LATE_MS ? nowMs : atMs;
}
