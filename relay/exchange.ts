/**
 * The seam between the streams (which know gRPC and nothing of jobs) and the answering core (which knows jobs and
 * nothing of gRPC): bytes of one question in, one answer out.
 */

/** What the router is told. `reason` is plain text, never empty. */
export type RouterAnswer =
  | { readonly outcome: 'admitted' }
  | { readonly outcome: 'rejected'; readonly reason: string };

export interface Question {
  /** The undecoded message: decoding happens in the core so that a poisoned message costs its own stream only. */
  readonly bytes: Uint8Array;
  /** When it arrived, on {@link RelayClock.monotonicMs}. */
  readonly arrivedAtMs: number;
  /** Set by whoever keeps it open for long; called once if the router goes before it has an answer. */
  onGone?: () => void;
}

/**
 * Answers one question, always: resolves in time, never rejects. `delivered` is called once, when the stream has ended,
 * with whether the router has the answer; `false` means that it went before, or that nobody can know. `refusal` is there if
 * the router does not accept the answer, in the router's words.
 */
export type AnswerQuestion = (question: Question) => Promise<{
  readonly answer: RouterAnswer;
  readonly delivered: (heard: boolean, refusal?: string) => void;
}>;

export interface RelayClock {
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** For deadlines and latencies: never steps back. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the result cancels it. */
  after(delayMs: number, run: () => void): () => void;
}
