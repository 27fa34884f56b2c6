import type { Preview } from '../../core/limits/desk/outcome.ts';
import type { JobsCounted } from './compare-recent.ts';

export type BacktestAnswer =
  | (Extract<Preview, { outcome: 'invalid' }> & { readonly set: string | undefined })
  /** A subject that is not there, or not theirs to see. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  /** It costs many reads: so often a minute and no more. */
  | { readonly outcome: 'too_often'; readonly retryAfterSeconds: number }
  | BacktestCounted;

/** From the jobs' records, lived again with the limits as they are and with the edit. */
export interface BacktestCounted {
  readonly outcome: 'counted';
  /** The live one. */
  readonly set: string | undefined;
  /** Days that were to be counted, today included. */
  readonly days: number;
  /** What was counted of them: half-open, Unix ms, and its first day. Equal: nothing could be. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly fromDay: string;
  /** All of these days, and every job of them. */
  readonly complete: boolean;
  /** Jobs of any edited subject, each counted once. */
  readonly all: JobsCounted;
  /** One per edited subject, named as in the edits; at most 20. */
  readonly subjects: readonly (JobsCounted & {
    readonly subject: string;
    readonly path: string;
    /** What the days' totals have and no record was found of. */
    readonly missed: number;
  })[];
  /** Records read, of all subjects. */
  readonly jobsRead: number;
}

export type { JobsCounted } from './compare-recent.ts';
