import type { JobRecord } from '../ledger/ledger.ts';

/** What the sweep needs of a live record; ten thousand of them are a few megabytes. */
export interface LiveHold {
  readonly jobId: number;
  readonly decidedAtMs: number;
  readonly dueAtMs: number;
  readonly timeoutSeconds: number;
  readonly estimateSeconds: number;
  /** Absent: GitLab can only be asked about the job by way of its runner. */
  readonly projectId?: number;
  /** As the router told it; it does not always. */
  readonly runnerId?: number;
}

/** Undefined: the job ended, or was never held. */
export function liveHoldOf(record: JobRecord | undefined): LiveHold | undefined {
  if (record?.dueAtMs === undefined) return undefined;
  const { jobId, decidedAtMs, dueAtMs, facts } = record;
  const runnerId = facts.asked?.runnerId;
  return {
    jobId,
    decidedAtMs,
    dueAtMs,
    timeoutSeconds: facts.timeoutSeconds,
    estimateSeconds: facts.estimateSeconds,
    ...(facts.projectId !== undefined && { projectId: facts.projectId }),
    ...(runnerId !== undefined && { runnerId }),
  };
}
