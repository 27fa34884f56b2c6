import type { JobTruth } from '../gitlab/index.ts';
import type { TruthOutcome } from './settle-truths.ts';

/** Charges jobs that ran and that nobody admitted. One outcome per truth, same order; the same may come again. */
export type ChargeBypass = (truths: readonly JobTruth[]) => Promise<readonly TruthOutcome[]>;
