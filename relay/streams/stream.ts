import type { AnswerQuestion } from '../exchange.ts';
import type { AdmitCall, AdmitCallListener, Router } from '../router/router.ts';
import { isFree, isOverdue, next, type StreamState, type StreamStep } from './stream-state.ts';

/** Both answers as the schema in use writes them. */
export interface EncodeAnswer {
  admitted(): Uint8Array;
  rejected(reason: string): Uint8Array;
}

/** What a stream needs of the pool it belongs to, and tells it. */
export interface StreamOwner {
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  nowMs(): number;
  accepted(stream: Stream): void;
  /** @param last - the state it was in before. */
  asked(stream: Stream, last: StreamState): void;
  oversized(sizeBytes: number): void;
  /** Something threw on the way from a question to its answer. */
  failedToAnswer(error: unknown): void;
  /** @param last - the state it was in before. */
  ended(stream: Stream, last: StreamState, code: number, details: string): void;
}

/** One AdmitJob call: carries one question to the answering core and its answer back. */
export class Stream implements AdmitCallListener {
  readonly #owner: StreamOwner;
  #state: StreamState;
  #call: AdmitCall | undefined;
  #cancelled = false;
  /** Its question was beyond the message limit. */
  tooLarge = false;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
    this.#state = { name: 'opening', sinceMs: owner.nowMs() };
  }

  get free(): boolean {
    return isFree(this.#state);
  }

  open(router: Router): void {
    this.#call = router.admitJob(this);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancel();
  }

  cancelOverdue(nowMs: number): void {
    if (isOverdue(this.#state, nowMs)) this.cancel();
  }

  onWaiting(): void {
    if (this.#step('accepted')) this.#owner.accepted(this);
  }

  onQuestion(bytes: Uint8Array): void {
    const last = this.#state;
    if (this.#cancelled || !this.#step('question')) return;
    this.#owner.asked(this, last);
    this.#owner
      .answer({ bytes, arrivedAtMs: this.#state.sinceMs })
      .then(({ answer, delivered }) => {
        const { encode } = this.#owner;
        delivered(
          this.#send(answer.outcome === 'admitted' ? encode.admitted() : encode.rejected(answer.reason)),
        );
      })
      // The core answers always; should it ever not, the router must not wait for it.
      .catch((error: unknown) => {
        this.#owner.failedToAnswer(error);
        this.cancel();
      });
  }

  onOversized(sizeBytes: number): void {
    this.tooLarge = true;
    this.#owner.oversized(sizeBytes);
  }

  onEnd(code: number, details: string): void {
    const last = this.#state;
    if (this.#step('end')) this.#owner.ended(this, last, code, details);
  }

  /** Whether an open call took the answer. */
  #send(bytes: Uint8Array): boolean {
    if (this.#cancelled || next(this.#state, 'answer', 0) === undefined) return false;
    if (this.#call?.answer(bytes) !== true) return false;
    return this.#step('answer');
  }

  #step(step: StreamStep): boolean {
    const state = next(this.#state, step, this.#owner.nowMs());
    if (state === undefined) return false;
    this.#state = state;
    return true;
  }
}
