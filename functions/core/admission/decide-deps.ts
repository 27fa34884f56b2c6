import type { EstimateSettings, Estimator } from '../../../policies/estimate.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { DirectoryRequest, DirectoryResponse } from '../contract/index.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { HoldOptions, Ledger, WaitAsk } from '../ledger/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { BatchRooms } from './limit-rooms.ts';

/** Inputs of a decision besides the counters. */
export interface Rules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
  readonly estimator: Estimator;
  /** Checks if the limits are still in force; true on a timeout. Absent: they never change. */
  readonly limitsAreCurrent?: (timeoutMs: number) => Promise<boolean>;
}

/**
 * Returns the changed parts of the directory for a caller that has parts with these hashes. @throws {Error}
 * if it cannot be read now.
 */
export type HandOutDirectory = (have: DirectoryRequest['have']) => Promise<DirectoryResponse>;

export interface DecideDeps {
  readonly ledger: Ledger;
  /** The rules in force now for these jobs; limits change without a deploy, so they are asked for with every batch. */
  readonly currentRules: (requests: readonly AdmissionRequest[]) => Promise<Rules>;
  /**
   * Returns an estimator with the last runs of these jobs. Absent: the rules' own estimator. Never throws.
   */
  readonly estimatorFor?: (
    requests: readonly AdmissionRequest[],
    settings: EstimateSettings,
    deadlineMs: number,
  ) => Promise<Estimator>;
  /** Hands the directory to relays for their fallback. Absent: it is not handed out. */
  readonly handOutDirectory?: HandOutDirectory;
  /** Collects headroom of this batch's limits for the caller. Absent: not wanted. */
  readonly rooms?: BatchRooms;
  /** `https://budget.example.com`: rejections lead there. Absent: there is no console. */
  readonly consoleUrl?: string | undefined;
  /** Called with shared counters that were in conflict. @default ignored */
  readonly onContended?: HoldOptions['onContended'];
  readonly clock: LedgerClock;
  readonly log: Log;
  /** Written at the end of each request. @default none are kept */
  readonly metrics?: Metrics;
}

/** Returns the relay's information about a waiting job. */
export type WaitLookup = (jobId: number) => WaitAsk;
