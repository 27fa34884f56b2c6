/** The interface between the streams, which know gRPC and no jobs, and the code that decides, which knows jobs and no gRPC. */
import type { WaitingAnswer } from '../functions/core/contract/admissions.ts';
import type { Decision, UndecidedCause } from '../policies/decision.ts';

/** `reason` is plain text and never empty. */
export type RouterResponse =
  | { readonly outcome: 'admitted' }
  | { readonly outcome: 'rejected'; readonly reason: string };

export interface RouterMessage {
  /** Undecoded, so a malformed message harms its own stream only. */
  readonly bytes: Uint8Array;
  readonly arrivedAtMs: number;
  /** Runs once if the router goes before it has an answer. Set by the code that keeps a request open. */
  onGone?: () => void;
}

/**
 * Answers one request. Always resolves in time, never throws. `delivered` runs once, when the stream has ended. `heard` is
 * true only if the router is known to have the answer. `refusal` is the router's text if it does not accept the answer.
 */
export type AnswerRequest = (message: RouterMessage) => Promise<{
  readonly answer: RouterResponse;
  readonly delivered: (heard: boolean, refusal?: string) => void;
}>;

export interface RelayClock {
  nowMs(): number;
  monotonicMs(): number;
  after(delayMs: number, run: () => void): () => void;
}

/** Doubles with each attempt, and is drawn from its upper half: those that failed together must not return together. */
export const pauseMs = (attempt: number, minMs: number, maxMs: number, random: number): number =>
  Math.min(maxMs, minMs * 2 ** attempt) * (0.5 + random / 2);

/** Why the fallback decided. A fixed set, because a metric has it as label. */
export type FallbackCause =
  | UndecidedCause
  | 'circuit_open'
  | 'unreachable'
  | 'refused'
  | 'malformed'
  /** The relay's queue was full, and this project had the most jobs in it. */
  | 'queue_full'
  | 'unreadable'
  | 'oversized'
  | 'stopping'
  /** The router gave up while the job waited for headroom. */
  | 'abandoned'
  /** The decision was a rejection, but the schema is not proven, so the relay may have misread the request. */
  | 'schema_unproven';

export type FinalDecision =
  | Exclude<Decision, { readonly outcome: 'undecided' }>
  | { readonly outcome: 'undecided'; readonly cause: FallbackCause };

export type LedgerDecision = FinalDecision | WaitingAnswer;

export const undecided = (cause: FallbackCause): FinalDecision => ({ outcome: 'undecided', cause });
