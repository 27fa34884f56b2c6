/**
 * Table costs of a job, a visit and a run, counted by the bench on deployed programs: measured-costs.json.
 * `npm run bench -- --only cost` renews it, and a test compares the quick counts.
 */
import type { COUNTERS_MAX } from './assumptions.ts';
import costs from './measured-costs.json' with { type: 'json' };

export interface MeasuredCosts {
  /** The day and the commit after which something was last counted otherwise. */
  readonly countedOn: string;
  readonly countedAfter: string;
  readonly how: string;
  readonly renewedBy: string;
  /** Jobs of one project that are admitted together: what `byBatch` lists go by. */
  readonly batches: readonly number[];
  /** Ends of one settlement, records of one rollup: what the lists within the lists of `byBatchAndTogether` go by. */
  readonly together: readonly number[];
  readonly jobs: Readonly<Record<JobOutcome, JobCosts>>;
  readonly desk: DeskCosts;
}

export type JobOutcome = 'admitted' | 'rejected';

/** Units of the table per job. */
export interface JobCosts {
  readonly byBatch: Readonly<Record<'hold' | 'announced' | 'dueIndex', readonly number[]>>;
  readonly byBatchAndTogether: Readonly<
    Record<
      'settle' | 'ledgerReads' | 'rollup' | 'estimates' | 'top' | 'rollupReads',
      readonly (readonly number[])[]
    >
  >;
  /** On top of these, for each counter that the job counts on. */
  readonly perCounter: {
    readonly hold: readonly number[];
    readonly ledgerReads: readonly number[];
    readonly settle: readonly (readonly number[])[];
  };
  /** From no counters to {@link COUNTERS_MAX}: how large its record is, and whether it still carries what histories are made of. */
  readonly byCounters: { readonly recordBytes: readonly number[]; readonly inHistories: readonly boolean[] };
  readonly inboxWrites: number;
  readonly estimatesReads: number;
  readonly kept: Readonly<Record<'record' | 'contribution' | 'inbox', Kept>>;
  /** The relay's line about the decision. */
  readonly decisionLineBytes: number;
}

interface Kept {
  readonly bytes: number;
  readonly days: number;
}

/** Table costs of the console and limits. */
export interface DeskCosts {
  /** With so many groups that have a budget: a visit to the console, an import from Parameter Store without parameters. */
  readonly byGroups: readonly {
    readonly groups: number;
    readonly visitReads: number;
    readonly visitBytes: number;
    readonly parameterRunReads: number;
  }[];
  /** With so many parameters that hold limits: what the import reads in addition. */
  readonly byParameters: readonly { readonly parameters: number; readonly reads: number }[];
  readonly noticesRunReads: number;
  readonly visitWrites: number;
  readonly visitRequests: number;
}

export const MEASURED_COSTS: MeasuredCosts = costs;
