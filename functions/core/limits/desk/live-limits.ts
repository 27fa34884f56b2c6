import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { LimitChange, LimitsDocument } from '../limit-set.ts';
import type { LimitPointer } from '../limit-table.ts';

/** The set in force, as it was written and as it is read. */
export interface LiveLimits {
  readonly pointer: LimitPointer;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}
