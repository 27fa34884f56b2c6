import type { Explained } from './explained.ts';

export type JobAnswer =
  | { readonly outcome: 'found'; readonly explanation: Explained }
  /** No record, expired, another generation, or not theirs to see. */
  | { readonly outcome: 'unknown'; readonly sentence: string }
  /** `word` names no job. */
  | { readonly outcome: 'unreadable'; readonly sentence: string };
