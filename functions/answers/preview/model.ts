import type { Preview } from '../../core/limits/desk/outcome.ts';
import type { LimitRow } from '../standing/model.ts';

export type PreviewAnswer =
  | (Extract<Preview, { outcome: 'invalid' }> & { readonly set: string | undefined })
  /** A subject that is not there, or not theirs to see. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  | (Omit<Extract<Preview, { outcome: 'valid' }>, 'document' | 'limits'> & {
      /** The live one. */
      readonly set: string | undefined;
      /** One per limit whose amount changes; at most 20. */
      readonly effects: readonly EditEffect[];
    });

export interface EditEffect {
  readonly subject: string;
  readonly path: string;
  readonly limit: string;
  /** Undefined: it is new. */
  readonly before?: LimitRow;
  /** Undefined: it goes. Its numbers are those of today's counter. */
  readonly after?: LimitRow;
  /** Absent: not a budget per period, or no history. */
  readonly lookBack?: LookBack;
}

/** An estimate from the days' totals: jobs that came after the new amount would have been reached. */
export interface LookBack {
  readonly days: number;
  readonly jobs: number;
  readonly jobsStopped: number;
  /** Under the amount that is in force now. */
  readonly jobsStoppedBefore: number;
  /** The first day on which it would have been reached. */
  readonly reachedOn?: string;
}
