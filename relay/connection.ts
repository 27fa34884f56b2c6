/**
 * The relay's connection to GitLab's job router as one state machine. It decides when the pool may open streams.
 *
 *   stopped ─▶ probing ──accepted──▶ open ─▶ draining
 *                ▲  └──refused──┐     │
 *            pause over         ▼     │ no stream is left
 *                └──────── backing_off ◀┘
 *
 * 1. probing: one stream, the probe, shows if the router accepts us. A pool of 256 streams tries once, not 256 times.
 * 2. open: the pool opens every stream that is missing.
 * 3. backing_off: a pause. The first one is short; it grows only while the next probe is refused too.
 *
 * One refused stream says little: other routers behind the same name may accept the next one. An open connection
 * therefore backs off only when no stream is left, or when more streams in a row were refused than are left.
 */
import type { RelayObserver } from './events.ts';
import type { AnswerQuestion, Question, RelayClock, RouterAnswer } from './exchange.ts';
import {
  type AdmitCall,
  type AdmitCallListener,
  type Router,
  type RouterFailure,
  STATUS,
} from './router/router.ts';

export interface EncodeAnswer {
  admitted(): Uint8Array;
  rejected(reason: string): Uint8Array;
}

export interface StreamOwner {
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  nowMs(): number;
  /** Runs with every transition of the stream, before the other notifications. */
  moved(from: StreamState['name'], to: StreamState['name']): void;
  accepted(stream: Stream): void;
  asked(stream: Stream): void;
  oversized(sizeBytes: number): void;
  failedToAnswer(error: unknown): void;
  ended(stream: Stream, last: StreamState, end: RouterFailure): void;
}

export class Stream implements AdmitCallListener {
  readonly #owner: StreamOwner;
  #state: StreamState;
  #call: AdmitCall | undefined;
  #cancelled = false;
  #question: Question | undefined;
  #delivered: ((heard: boolean, refusal?: string) => void) | undefined;
  tooLarge = false;
  answered: RouterAnswer['outcome'] | undefined;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
    this.#state = { name: 'opening', sinceMs: owner.nowMs() };
  }

  get state(): StreamState['name'] {
    return this.#state.name;
  }

  get isFree(): boolean {
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
    // Some routers leave answered calls open until we cancel them.
    const isHeard = code === STATUS.OK || (this.#cancelled && code === STATUS.CANCELLED);
    if (last.name === 'answered') this.#delivered?.(isHeard, refusalOf(code, details));
    this.#owner.ended(this, last, { code, details, ...(remedy !== undefined && { remedy }) });
  }

  #send(bytes: Uint8Array): boolean {
    if (this.#cancelled || next(this.#state, 'answer', 0) === undefined) return false;
    return this.#call?.answer(bytes) === true && this.#step('answer');
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
 * The states of one AdmitJob stream: opening → waiting → deciding → answered → ended. The transition refuses steps that do not
 * fit, such as a second question or an answer after the end.
 */
export interface StreamState {
  /**
   * `opening`: the call exists, but maybe no connection yet. `waiting`: the router may pick it. `deciding`: it carried its
   * question, and has no answer yet. `answered`: the router has yet to end it.
   */
  readonly name: 'opening' | 'waiting' | 'deciding' | 'answered' | 'ended';
  readonly sinceMs: number;
}

type StreamStep = 'accepted' | 'question' | 'answer' | 'end';

const NEXT: Readonly<Record<StreamState['name'], Partial<Record<StreamStep, StreamState['name']>>>> = {
  // A question may arrive before the notification that the connection is up.
  opening: { accepted: 'waiting', question: 'deciding', end: 'ended' },
  waiting: { question: 'deciding', end: 'ended' },
  deciding: { answer: 'answered', end: 'ended' },
  answered: { end: 'ended' },
  ended: {},
};

function next(state: StreamState, step: StreamStep, nowMs: number): StreamState | undefined {
  const name = NEXT[state.name][step];
  return name === undefined ? undefined : { name, sinceMs: nowMs };
}

const isFree = (state: StreamState): boolean => state.name === 'opening' || state.name === 'waiting';

export const wasAsked = (state: StreamState): boolean => !isFree(state) && state.name !== 'ended';

/**
 * The relay cancels a stream that stays longer in one state. Waiting has no bound, since the router ages those. Opening includes
 * DNS, TLS and a proxy. The router times out within 20 s, and ends an answered stream immediately. Slower ends get time, because
 * servers and proxies take many cancelled streams for an attack.
 */
const LONGEST_MS = { opening: 20_000, deciding: 30_000, answered: 10_000 } as const;

const isOverdue = (state: StreamState, nowMs: number): boolean =>
  state.name !== 'waiting' && state.name !== 'ended' && nowMs - state.sinceMs > LONGEST_MS[state.name];

/**
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

/** `attempt` counts the failures since a probe was last known to be accepted. */
type State =
  | { readonly name: 'stopped' | 'draining' }
  | { readonly name: 'probing'; readonly attempt: number; readonly probe?: Stream }
  | { readonly name: 'open'; readonly attempt: number; readonly sinceMs: number }
  | { readonly name: 'backing_off'; readonly attempt: number };

export type ConnectionState = State['name'];

/** Pause after the n-th failure in a row: drawn from `firstMs` up to `firstMs * 2^n`, at most `maxMs`. */
/** No answer came. A router that is back is found within 2 s, and one attempt costs nothing. */
const NO_ANSWER = { firstMs: 100, maxMs: 2_000 };
/** The router or a proxy answered with an error. It may be one of several routers, or be starting. */
const REFUSED = { firstMs: 1_000, maxMs: 10_000 };
/** More attempts only fill the router's log, and a new token is used within half a minute. */
const TOKEN_REFUSED = { firstMs: 1_000, maxMs: 30_000 };

const BACKOFF: Readonly<Record<number, typeof REFUSED>> = {
  [STATUS.OK]: NO_ANSWER,
  [STATUS.UNAVAILABLE]: NO_ANSWER,
  [STATUS.UNAUTHENTICATED]: TOKEN_REFUSED,
  [STATUS.PERMISSION_DENIED]: TOKEN_REFUSED,
};

/** Relays that lost the router together must not return to it together, so the pause is drawn. */
export function backoffMs(code: number, attempt: number, random: () => number): number {
  const { firstMs, maxMs } = BACKOFF[code] ?? REFUSED;
  const span = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30)) - firstMs;
  return Math.round(firstMs + random() * span);
}

/** A connection that stays open this long has recovered; the next failure counts as the first. */
const RECOVERED_AFTER_MS = 10_000;
/** More refusals in a row than a restart of one of several routers explains. */
const REFUSED_IN_ROW_MAX = 32;

interface ConnectionDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** Runs when streams may be opened: `now` after a pause, else with the next refill. */
  readonly mayOpen: (now: boolean) => void;
}

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #timers: Timers<'pause' | 'acceptance'>;
  #state: State = { name: 'stopped' };
  #refusedInRow = 0;
  #downSinceMs: number | undefined;
  #everConnected = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.#downSinceMs = this.#nowMs();
  }

  get state(): ConnectionState {
    return this.#state.name;
  }

  get everConnected(): boolean {
    return this.#everConnected;
  }

  /** Since when the router has no stream, on the monotonic clock. Undefined while it has one. */
  get downSinceMs(): number | undefined {
    return this.#downSinceMs;
  }

  /** The stream that has yet to show that the router accepts us. Until then it does not count as waiting. */
  get probe(): Stream | undefined {
    return this.#state.name === 'probing' ? this.#state.probe : undefined;
  }

  get needsProbe(): boolean {
    return this.#state.name === 'probing' && this.#state.probe === undefined;
  }

  start(): void {
    this.#downSinceMs = this.#nowMs();
    this.#state = { name: 'probing', attempt: 0 };
  }

  drain(): void {
    this.#timers.cancelAll();
    this.#state = { name: 'draining' };
  }

  sendProbe(probe: Stream): void {
    if (this.#state.name === 'probing') this.#state = { ...this.#state, probe };
  }

  /** The stream is on a live connection. Routers need not answer before they ask, so silence counts as acceptance. */
  onWaiting(stream: Stream): void {
    if (stream === this.probe)
      this.#timers.after('acceptance', ACCEPTED_AFTER_MS, () => this.#accepted(false));
    if (this.#state.name === 'open') this.#connected();
  }

  onQuestion(stream: Stream): void {
    this.#refusedInRow = 0;
    if (stream === this.probe) this.#accepted(true);
  }

  onEnd(stream: Stream, kind: EndKind, end: RouterFailure, left: number): void {
    const { probe } = this;
    if (stream === probe) this.#timers.cancel('acceptance');
    const refused = kind === 'refused' || kind === 'brief';
    if (refused) this.#refusedInRow += 1;
    else if (kind !== 'failed') this.#refusedInRow = 0;
    const loops = refused && this.#refusedInRow > Math.max(REFUSED_IN_ROW_MAX, left);
    switch (this.#state.name) {
      case 'probing':
        // Other streams end with the incident before.
        if (stream !== probe && probe !== undefined) return;
        if (kind === 'aged') this.#accepted(false);
        else if (kind === 'refused' || kind === 'failed' || loops) this.#backOff(this.#state.attempt, end);
        else this.#state = { name: 'probing', attempt: this.#state.attempt };
        return;
      case 'open': {
        const { attempt, sinceMs } = this.#state;
        const recovered = this.#nowMs() - sinceMs >= RECOVERED_AFTER_MS;
        const lost = left === 0 && (kind === 'refused' || kind === 'failed');
        if (lost || loops) this.#backOff(recovered ? 0 : attempt, end);
        return;
      }
      default:
        return;
    }
  }

  onDown(): void {
    this.#downSinceMs ??= this.#nowMs();
  }

  #backOff(attempts: number, { code, details, remedy }: RouterFailure): void {
    const attempt = attempts + 1;
    const delayMs = backoffMs(code, attempt, this.#deps.random);
    this.#state = { name: 'backing_off', attempt };
    this.#deps.observe({
      type: 'backing_off',
      ...{ code, details, attempt, delayMs },
      ...(remedy !== undefined && { remedy }),
    });
    this.#timers.after('pause', delayMs, () => {
      this.#state = { name: 'probing', attempt };
      this.#deps.mayOpen(true);
    });
  }

  /** @param asked - a question is proof; silence is not, so the next failure continues the count of attempts. */
  #accepted(asked: boolean): void {
    if (this.#state.name !== 'probing') return;
    this.#timers.cancel('acceptance');
    this.#refusedInRow = 0;
    this.#state = { name: 'open', attempt: asked ? 0 : this.#state.attempt, sinceMs: this.#nowMs() };
    this.#connected();
    this.#deps.mayOpen(false);
  }

  #connected(): void {
    if (this.#downSinceMs === undefined) return;
    const downMs = this.#nowMs() - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#deps.observe({ type: 'connected', downMs, again: this.#everConnected });
    this.#everConnected = true;
  }

  #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}

/** Timers by purpose: setting one again replaces it, and all can be cancelled together. */
export class Timers<Name extends string> {
  readonly #clock: RelayClock;
  readonly #cancels = new Map<Name, () => void>();

  constructor(clock: RelayClock) {
    this.#clock = clock;
  }

  has(name: Name): boolean {
    return this.#cancels.has(name);
  }

  after(name: Name, delayMs: number, run: () => void): void {
    this.cancel(name);
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }

  every(name: Name, periodMs: number, run: () => void): void {
    this.after(name, periodMs, () => {
      this.every(name, periodMs, run);
      run();
    });
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }
}
