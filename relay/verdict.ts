import type { WaitingAnswer } from '../functions/core/contract/index.ts';
import type { Decision, UndecidedCause } from '../policies/decision.ts';

/** Why the fallback decided. A fixed set, because a metric has it as label. */
export type FallbackCause =
  | UndecidedCause
  /** The breaker is open, so the relay made no call. */
  | 'circuit_open'
  /** Network error, 429 or 5xx after all tries. */
  | 'unreachable'
  /** The function refused the whole batch (4xx). */
  | 'refused'
  /** The response breaks the contract. */
  | 'malformed'
  /** The relay's queue was full, and this project had the most jobs in it. */
  | 'queue_full'
  /** The request could not be decoded, or names no job. */
  | 'unreadable'
  | 'oversized'
  /** The relay stops and did not wait for the decision. */
  | 'stopping'
  /** The router gave up while the job waited for headroom. */
  | 'abandoned'
  /** The decision was a rejection, but the schema is not proven, so the relay may have misread the request. */
  | 'schema_unproven';

/** The final decision about one job, or why there is none. */
export type FinalVerdict =
  | Exclude<Decision, { readonly outcome: 'undecided' }>
  | { readonly outcome: 'undecided'; readonly cause: FallbackCause };

/** The decision of one call, after which the job may have to wait. */
export type LedgerVerdict = FinalVerdict | WaitingAnswer;

export const undecided = (cause: FallbackCause): FinalVerdict => ({ outcome: 'undecided', cause });
