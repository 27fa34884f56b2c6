import type { AnswerQuestion, Question, RouterAnswer } from '../exchange.ts';
import type { RouterFailure } from '../router/failure.ts';
import { type AdmitCall, type AdmitCallListener, type Router, STATUS } from '../router/router.ts';

/** Both answers as the schema in use writes them. */
export interface EncodeAnswer {
  admitted(): Uint8Array;
  rejected(reason: string): Uint8Array;
}

/** The pool, as its streams see it. */
export interface StreamOwner {
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  nowMs(): number;
  /** Runs with every transition of the stream, before the other notifications. */
  moved(from: StreamState['name'], to: StreamState['name']): void;
  accepted(stream: Stream): void;
  asked(stream: Stream): void;
  oversized(sizeBytes: number): void;
  /** An error was thrown between question and answer. */
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
      // `answer` never rejects. If it does, the router must not wait for it.
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

  /** Returns true if the router ended the call without an error, or left it open until we cancelled it long after sending. */
  #heard(last: StreamState, code: number): boolean {
    return code === STATUS.OK || (this.#cancelled && code === STATUS.CANCELLED && last.name === 'sent');
  }

  /** Returns true if an open call took the answer. */
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

/** Returns the router's text if it does not accept the answer. To grpc-js a stream reset is `INTERNAL`, and no refusal. */
const refusalOf = (code: number, details: string): string | undefined =>
  code === STATUS.INVALID_ARGUMENT || (code === STATUS.INTERNAL && !details.includes('Received RST_STREAM'))
    ? details
    : undefined;

/**
 * The states of one AdmitJob stream: opening → waiting → deciding → answered → sent → ended. The transition refuses steps that do
 * not fit, such as a second question or an answer after the end.
 */
export type StreamState =
  /** The call exists, but maybe no connection yet. */
  | { readonly name: 'opening'; readonly sinceMs: number }
  /** The router may pick it. */
  | { readonly name: 'waiting'; readonly sinceMs: number }
  /** It carried its question, and has no answer yet. */
  | { readonly name: 'deciding'; readonly sinceMs: number }
  /** The transport has yet to take the answer. */
  | { readonly name: 'answered'; readonly sinceMs: number }
  /** The transport has the answer, and the router has yet to end the stream. */
  | { readonly name: 'sent'; readonly sinceMs: number }
  | { readonly name: 'ended'; readonly sinceMs: number };

type StreamStep = 'accepted' | 'question' | 'answer' | 'taken' | 'end';

const NEXT: Readonly<Record<StreamState['name'], Partial<Record<StreamStep, StreamState['name']>>>> = {
  // A question may arrive before the notification that the connection is up.
  opening: { accepted: 'waiting', question: 'deciding', end: 'ended' },
  waiting: { question: 'deciding', end: 'ended' },
  deciding: { answer: 'answered', end: 'ended' },
  answered: { taken: 'sent', end: 'ended' },
  sent: { end: 'ended' },
  ended: {},
};

/** Returns the state after a step, or undefined if the step does not apply. */
function next(state: StreamState, step: StreamStep, nowMs: number): StreamState | undefined {
  const name = NEXT[state.name][step];
  return name === undefined ? undefined : { name, sinceMs: nowMs };
}

/** Neither carried a question nor ended. */
const isFree = (state: StreamState): boolean => state.name === 'opening' || state.name === 'waiting';

/** Carried a question, answered or not. */
export const wasAsked = (state: StreamState): boolean => !isFree(state) && state.name !== 'ended';

/**
 * The relay cancels a stream that stays longer in one state. Waiting has no bound, since the router ages those. Opening includes
 * DNS, TLS and a proxy. The router times out within 20 s, and ends an answered stream immediately. Slower ends get time, because
 * servers and proxies take many cancelled streams for an attack.
 */
const LONGEST_MS = { opening: 20_000, deciding: 30_000, answered: 10_000, sent: 10_000 } as const;

const isOverdue = (state: StreamState, nowMs: number): boolean =>
  state.name !== 'waiting' && state.name !== 'ended' && nowMs - state.sinceMs > LONGEST_MS[state.name];

/**
 * Describes what the end of a stream means for opening others.
 * `served`: it had its question; `aged`: a clean end without one, normal after a while; `brief`: a clean end right after it
 * was opened, harmless unless it repeats; `refused`: ended with an error before it counted as accepted; `failed`: later.
 */
export type EndKind = 'served' | 'aged' | 'brief' | 'refused' | 'failed';

/** A router that ends younger streams has no room for them or is broken. One that is silent longer accepts them. */
export const ACCEPTED_AFTER_MS = 1_000;

/** The router gave up this question or refused its answer. Other streams are not affected. */
const OF_THE_QUESTION: ReadonlySet<number> = new Set([
  STATUS.OK,
  STATUS.CANCELLED,
  STATUS.INVALID_ARGUMENT,
  STATUS.DEADLINE_EXCEEDED,
]);

/** @param last - the state before. @param oversized - the question was beyond the message limit. */
export function endKind(last: StreamState, code: number, oversized: boolean, nowMs: number): EndKind {
  // The limit is our own, but many such questions must still slow the pool down.
  if (oversized) return 'brief';
  if (wasAsked(last)) return OF_THE_QUESTION.has(code) ? 'served' : 'failed';
  const accepted = last.name === 'waiting' && nowMs - last.sinceMs >= ACCEPTED_AFTER_MS;
  if (code === STATUS.OK) return accepted ? 'aged' : 'brief';
  return accepted ? 'failed' : 'refused';
}
