import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { Verdict } from '../verdict.ts';

/** One job on its way to the ledger, with everybody who asked about it. */
export interface BatchJob {
  readonly request: AdmissionRequest;
  /** The request as it travels: made once, measured and sent. */
  readonly json: string;
  readonly bytes: number;
  /** Batches are made per root group: its counters are what jobs contend for. */
  readonly root: string;
  /** The queue is shared fairly between projects. */
  readonly project: string;
  readonly waiters: Set<Waiter>;
  /** The batch it went out in, once it has. */
  batch: string | undefined;
}

export interface Waiter {
  readonly deadlineMs: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly sent?: OnSent | undefined;
}

/** Told of the batch in which a job goes to the ledger. */
export type OnSent = (batch: string) => void;

export function createBatchJob(request: AdmissionRequest): BatchJob {
  const json = JSON.stringify(request);
  return {
    request,
    json,
    bytes: Buffer.byteLength(json),
    root: rootOf(request),
    project: projectOf(request),
    waiters: new Set(),
    batch: undefined,
  };
}

/** The last moment at which anybody still wants the answer. */
export function latestDeadlineMs(job: BatchJob): number {
  let latest = 0;
  for (const waiter of job.waiters) latest = Math.max(latest, waiter.deadlineMs);
  return latest;
}

/** The root group's id; without ids its path, then the project, since one project never spans two roots. */
export function rootOf(request: AdmissionRequest): string {
  if (request.rootNamespaceId !== undefined) return String(request.rootNamespaceId);
  const path = request.projectPath;
  if (path !== undefined)
    return path.slice(0, path.indexOf('/') === -1 ? path.length : path.indexOf('/')).toLowerCase();
  return request.projectId === undefined ? 'unknown' : `project/${request.projectId}`;
}

/** The project's id, else its path. */
export function projectOf(request: AdmissionRequest): string {
  return request.projectId === undefined
    ? (request.projectPath?.toLowerCase() ?? 'unknown')
    : String(request.projectId);
}
