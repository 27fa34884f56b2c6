import type { Placement } from './placement.ts';
import type { JobPrice, RunnerClass } from './price.ts';
import type { AdmissionRequest } from './request/request.ts';

/** A request, where it stands and what it runs on: all that a rule without counters looks at. */
export interface CheckedJob {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: RunnerClass;
  /** Its tags belong to no class: `runnerClass` is the default, which stands in for price and limits. */
  readonly unclassed: boolean;
  /** Wall clock, Unix ms. */
  readonly nowMs: number;
}

/** The same with what it is taken to use. */
export interface Job extends CheckedJob {
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly price: JobPrice;
}
