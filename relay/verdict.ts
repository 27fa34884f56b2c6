import type { WaitingAnswer } from '../functions/core/contract/index.ts';
import type { Decision, UndecidedCause } from '../policies/decision.ts';

/** Why a question got the fallback's answer. Labels of a metric: a fixed set. */
export type FallbackCause =
  | UndecidedCause
  /** The breaker is open: nobody was asked. */
  | 'circuit_open'
  /** No answer from the function: network error, 429 or 5xx, after all tries. */
  | 'unreachable'
  /** The function refused the whole batch (4xx). */
  | 'refused'
  /** An answer that is not of the contract. */
  | 'malformed'
  /** The relay's queue was full and this project had the most in it. */
  | 'queue_full'
  /** The question could not be decoded or names no job. */
  | 'unreadable'
  /** The question is larger than we are willing to carry. */
  | 'oversized'
  /** The relay is stopping and did not wait for the answer. */
  | 'stopping'
  /** The router gave the question up while its job waited for room: nobody hears the answer. */
  | 'abandoned'
  /** It would have been rejected, and the schema is not proven: nobody can say that the right thing was read. */
  | 'schema_unproven';

/** What the ledger's side said of one job in the end, or why it said nothing. */
export type FinalVerdict =
  | Exclude<Decision, { readonly outcome: 'undecided' }>
  | { readonly outcome: 'undecided'; readonly cause: FallbackCause };

/** The same of one call, after which the job may have to wait. */
export type LedgerVerdict = FinalVerdict | WaitingAnswer;

export const undecided = (cause: FallbackCause): FinalVerdict => ({ outcome: 'undecided', cause });
