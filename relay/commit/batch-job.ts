import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { LedgerVerdict } from '../verdict.ts';

/** One job on its way to the ledger, with all callers that wait for its verdict. */
export interface BatchJob {
  readonly request: AdmissionRequest;
  /** The request as it is sent. Made once, because its size is measured too. */
  readonly json: string;
  readonly bytes: number;
  /** Jobs of one root group share counters, so they share batches. */
  readonly root: string;
  /** Projects share the queue fairly. */
  readonly project: string;
  readonly waiters: Set<Waiter>;
  /** The id of its batch, once it was sent. */
  batch: string | undefined;
}

export interface Waiter {
  readonly deadlineMs: number;
  readonly resolve: (verdict: LedgerVerdict) => void;
  readonly sent?: SentListener | undefined;
}

/** Receives the id of the batch that carries a job to the ledger. */
export type SentListener = (batch: string) => void;

export function createBatchJob(request: AdmissionRequest): BatchJob {
  const json = JSON.stringify(request);
  return {
    ...{ request, json, bytes: Buffer.byteLength(json) },
    ...{ root: requestRootOf(request), project: projectOf(request) },
    ...{ waiters: new Set(), batch: undefined },
  };
}

/** Returns the last deadline of its callers. */
export function latestDeadlineMs(job: BatchJob): number {
  let latest = 0;
  for (const waiter of job.waiters) latest = Math.max(latest, waiter.deadlineMs);
  return latest;
}

/** Returns the root group's id, else its path, else the project: a project never spans two roots. */
export function requestRootOf({ rootNamespaceId, projectPath, projectId }: AdmissionRequest): string {
  if (rootNamespaceId !== undefined) return String(rootNamespaceId);
  if (projectPath !== undefined) return projectPath.split('/', 1)[0]?.toLowerCase() ?? '';
  return projectId === undefined ? 'unknown' : `project/${projectId}`;
}

/** Returns the project's id, else its path. */
export function projectOf(request: AdmissionRequest): string {
  return request.projectId === undefined
    ? (request.projectPath?.toLowerCase() ?? 'unknown')
    : String(request.projectId);
}
