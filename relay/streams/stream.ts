import type { Answer, AnswerQuestion } from '../exchange.ts';
import { type AdmitCall, type AdmitCallListener, type Router, STATUS } from '../router/router.ts';
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
  /** Comes with every step of the stream's life, before what else is told of it. */
  moved(from: StreamState['name'], to: StreamState['name']): void;
  accepted(stream: Stream): void;
  asked(stream: Stream): void;
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
  #delivered: ((heard: boolean) => void) | undefined;
  /** Its question was beyond the message limit. */
  tooLarge = false;
  /** Given to the transport. */
  answered: Answer['outcome'] | undefined;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
    this.#state = { name: 'opening', sinceMs: owner.nowMs() };
  }

  get state(): StreamState['name'] {
    return this.#state.name;
  }

  get free(): boolean {
    return isFree(this.#state);
  }

  open(router: Pick<Router, 'admitJob'>): void {
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
    if (this.#cancelled || !this.#step('question')) return;
    this.#owner.asked(this);
    this.#owner
      .answer({ bytes, arrivedAtMs: this.#state.sinceMs })
      .then(({ answer, delivered }) => {
        const { encode } = this.#owner;
        this.#delivered = delivered;
        const bytes = answer.outcome === 'admitted' ? encode.admitted() : encode.rejected(answer.reason);
        if (this.#send(bytes)) this.answered = answer.outcome;
        else delivered(false);
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
    if (!this.#step('end')) return;
    if (last.name === 'answered' || last.name === 'sent') this.#delivered?.(this.#heard(last, code));
    this.#owner.ended(this, last, code, details);
  }

  /**
   * Whether the router has the answer: it ended the call in peace, or left it open until we did, long after the transport
   * had taken the answer. A call that is torn down says nothing of the kind.
   */
  #heard(last: StreamState, code: number): boolean {
    return code === STATUS.OK || (this.#cancelled && code === STATUS.CANCELLED && last.name === 'sent');
  }

  /** Whether an open call took the answer. */
  #send(bytes: Uint8Array): boolean {
    if (this.#cancelled || next(this.#state, 'answer', 0) === undefined) return false;
    if (this.#call?.answer(bytes, () => this.#step('taken')) !== true) return false;
    return this.#step('answer');
  }

  #step(step: StreamStep): boolean {
    const from = this.#state;
    const state = next(from, step, this.#owner.nowMs());
    if (state === undefined) return false;
    this.#state = state;
    this.#owner.moved(from.name, state.name);
    return true;
  }
}
