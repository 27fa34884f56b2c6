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

/** What a decision rests on beside the counters. */
export interface Rules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
  readonly estimator: Estimator;
  /** Whether the limits are still those in force; true where that is not known in time. Absent: they never change. */
  readonly limitsAreCurrent?: (timeoutMs: number) => Promise<boolean>;
}

/** What changed of the directory since the caller had parts with these hashes. @throws {Error} if it cannot be read now. */
export type HandOutDirectory = (have: DirectoryRequest['have']) => Promise<DirectoryResponse>;

export interface DecideDeps {
  readonly ledger: Ledger;
  /** The rules in force now for these jobs; limits change without a deploy, so they are asked for with every batch. */
  readonly currentRules: (requests: readonly AdmissionRequest[]) => Promise<Rules>;
  /** What is known of how long these jobs last, by their last runs; absent: the rules' own estimator. Never throws. */
  readonly estimatorFor?: (
    requests: readonly AdmissionRequest[],
    settings: EstimateSettings,
    deadlineMs: number,
  ) => Promise<Estimator>;
  /** Which groups there are, for callers that judge by themselves while nobody else answers. Absent: none are handed out. */
  readonly handOutDirectory?: HandOutDirectory;
  /** What is left of the limits of this batch, for the caller to know. Absent: nobody wants to. */
  readonly rooms?: BatchRooms;
  /** `https://budget.example.com`: rejections lead there. Absent: there is no console. */
  readonly consoleUrl?: string | undefined;
  /** Told of counters that several roots share and that these jobs had to fight for. @default nobody is */
  readonly onContended?: HoldOptions['onContended'];
  readonly clock: LedgerClock;
  readonly log: Log;
  /** Written at the end of each request. @default none are kept */
  readonly metrics?: Metrics;
}

/** What the caller knows of a job that it can keep waiting for room. */
export type WaitLookup = (jobId: number) => WaitAsk;
