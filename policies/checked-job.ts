import type { Placement } from './placement.ts';
import type { JobPrice, RunnerClass } from './price.ts';
import type { AdmissionRequest } from './request/request.ts';

export interface CheckedJob {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: RunnerClass;
  /** Its tags belong to no class: `runnerClass` is the default, which stands in for price and limits. */
  readonly unclassed: boolean;
  readonly nowMs: number;
}

export interface Job extends CheckedJob {
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly price: JobPrice;
}
