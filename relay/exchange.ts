/** The interface between the streams, which know gRPC and no jobs, and the code that decides, which knows jobs and no gRPC. */

/** `reason` is plain text and never empty. */
export type RouterAnswer =
  | { readonly outcome: 'admitted' }
  | { readonly outcome: 'rejected'; readonly reason: string };

/** One admission request on a stream. */
export interface Question {
  /** Undecoded, so a malformed message harms its own stream only. */
  readonly bytes: Uint8Array;
  /** Monotonic. */
  readonly arrivedAtMs: number;
  /** Runs once if the router goes before it has an answer. Set by the code that keeps a question open. */
  onGone?: () => void;
}

/**
 * Answers one question. Always resolves in time, never rejects. `delivered` runs once, when the stream has ended. `heard` is
 * true only if the router is known to have the answer. `refusal` is the router's text if it does not accept the answer.
 */
export type AnswerQuestion = (question: Question) => Promise<{
  readonly answer: RouterAnswer;
  readonly delivered: (heard: boolean, refusal?: string) => void;
}>;

export interface RelayClock {
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** For deadlines and latencies, since it never steps back. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. The result cancels it. */
  after(delayMs: number, run: () => void): () => void;
}
