import type { AnswerQuestion, Question, RouterAnswer } from '../exchange.ts';
import type { RouterFailure } from '../router/failure.ts';
import { type AdmitCall, type AdmitCallListener, type Router, STATUS } from '../router/router.ts';

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
  /** Runs with every transition of the stream, before the other notifications. */
  moved(from: StreamState['name'], to: StreamState['name']): void;
  accepted(stream: Stream): void;
  asked(stream: Stream): void;
  oversized(sizeBytes: number): void;
  /** Something threw on the way from a question to its answer. */
  failedToAnswer(error: unknown): void;
  /** @param last - the state it was in before. */
  ended(stream: Stream, last: StreamState, end: RouterFailure): void;
}

/** One AdmitJob call: carries one question to the answering core and its answer back. */
export class Stream implements AdmitCallListener {
  readonly #owner: StreamOwner;
  #state: StreamState;
  #call: AdmitCall | undefined;
  #cancelled = false;
  #question: Question | undefined;
  #delivered: ((heard: boolean, refusal?: string) => void) | undefined;
  /** Its question was beyond the message limit. */
  tooLarge = false;
  /** Given to the transport. */
  answered: RouterAnswer['outcome'] | undefined;

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
    const question: Question = { bytes, arrivedAtMs: this.#state.sinceMs };
    this.#question = question;
    this.#owner
      .answer(question)
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

  onEnd(code: number, details: string, remedy?: string): void {
    const last = this.#state;
    if (!this.#step('end')) return;
    if (last.name === 'deciding') this.#question?.onGone?.();
    if (last.name === 'answered' || last.name === 'sent')
      this.#delivered?.(this.#heard(last, code), refusalOf(code, details));
    this.#owner.ended(this, last, { code, details, ...(remedy !== undefined && { remedy }) });
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

/** Why the router does not accept what it was sent. A stream that was reset is `INTERNAL` to grpc-js and says nothing. */
const refusalOf = (code: number, details: string): string | undefined =>
  code === STATUS.INVALID_ARGUMENT || (code === STATUS.INTERNAL && !details.includes('Received RST_STREAM'))
    ? details
    : undefined;

/**
 * The life of one AdmitJob stream: opening → waiting → deciding → answered → sent → ended. One question per stream; what
 * does not fit the state (a second question, an answer after the end) is refused by the transition, not by its callers.
 */
export type StreamState =
  /** The call exists, the connection may not. */
  | { readonly name: 'opening'; readonly sinceMs: number }
  /** The router may pick it. */
  | { readonly name: 'waiting'; readonly sinceMs: number }
  /** It carried its question; the answer is being found. */
  | { readonly name: 'deciding'; readonly sinceMs: number }
  /** Answered; the transport has yet to take the answer. */
  | { readonly name: 'answered'; readonly sinceMs: number }
  /** The transport has the answer; the router has yet to end the stream. */
  | { readonly name: 'sent'; readonly sinceMs: number }
  | { readonly name: 'ended'; readonly sinceMs: number };

export type StreamStep = 'accepted' | 'question' | 'answer' | 'taken' | 'end';

const NEXT: Readonly<Record<StreamState['name'], Partial<Record<StreamStep, StreamState['name']>>>> = {
  // A question may overtake the news that the connection stands.
  opening: { accepted: 'waiting', question: 'deciding', end: 'ended' },
  waiting: { question: 'deciding', end: 'ended' },
  deciding: { answer: 'answered', end: 'ended' },
  answered: { taken: 'sent', end: 'ended' },
  sent: { end: 'ended' },
  ended: {},
};

/** The state after a step, or undefined if the step does not apply and nothing may be done. */
export function next(state: StreamState, step: StreamStep, nowMs: number): StreamState | undefined {
  const name = NEXT[state.name][step];
  return name === undefined ? undefined : { name, sinceMs: nowMs };
}

/** Neither carried a question nor ended. */
export const isFree = (state: StreamState): boolean => state.name === 'opening' || state.name === 'waiting';

/** Carried a question, answered or not. */
export const wasAsked = (state: StreamState): boolean => !isFree(state) && state.name !== 'ended';

/**
 * How long a stream may stay in one state before we end it ourselves; waiting has no bound, the router ages those.
 * Connecting includes DNS, TLS and a proxy; the router gives a decision up within 20 s, and ends an answered stream at
 * once. One that is slower is left in peace for a while: servers and proxies take many cancelled streams for an attack.
 */
const LONGEST_MS = { opening: 20_000, deciding: 30_000, answered: 10_000, sent: 10_000 } as const;

export const isOverdue = (state: StreamState, nowMs: number): boolean =>
  state.name !== 'waiting' && state.name !== 'ended' && nowMs - state.sinceMs > LONGEST_MS[state.name];

/**
 * Describes what the end of a stream means for opening others.
 * `served`: it had its question; `aged`: a clean end without one, normal after a while; `brief`: a clean end right after it
 * was opened, harmless unless it repeats; `refused`: ended with an error before it counted as accepted; `failed`: later.
 */
export type EndKind = 'served' | 'aged' | 'brief' | 'refused' | 'failed';

/** A router that ends younger streams has no room for them or is broken. One that is silent longer accepts them. */
export const ACCEPTED_AFTER_MS = 1_000;

/** The router gave this one question up, or did not like our answer: no reason to keep others from being asked. */
const OF_THE_QUESTION: ReadonlySet<number> = new Set([
  STATUS.OK,
  STATUS.CANCELLED,
  STATUS.INVALID_ARGUMENT,
  STATUS.DEADLINE_EXCEEDED,
]);

/** @param last - the state the stream was in; `oversized`: its question was beyond our limit. */
export function endKind(last: StreamState, code: number, oversized: boolean, nowMs: number): EndKind {
  // The limit was ours, whatever the code says; a router that sends many such questions is still held to a pace.
  if (oversized) return 'brief';
  if (wasAsked(last)) return OF_THE_QUESTION.has(code) ? 'served' : 'failed';
  const accepted = last.name === 'waiting' && nowMs - last.sinceMs >= ACCEPTED_AFTER_MS;
  if (code === STATUS.OK) return accepted ? 'aged' : 'brief';
  return accepted ? 'failed' : 'refused';
}
