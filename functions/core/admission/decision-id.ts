import type { JobRecord } from '../ledger/index.ts';

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
export const decisionIdOf = ({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): string =>
  `d-${jobId}-${generation}`;
