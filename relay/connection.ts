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
import { ownFault, type RelayObserver } from './events.ts';
import type { AnswerRequest, RelayClock, RouterMessage, RouterResponse } from './exchange.ts';
import {
  type AdmitCall,
  type AdmitCallListener,
  type Router,
  type RouterFailure,
  STATUS,
} from './router/router.ts';

export interface StreamOwner {
  readonly answer: AnswerRequest;
  readonly encode: (answer: RouterResponse) => Uint8Array;
  readonly observe: RelayObserver;
  nowMs(): number;
  /** Runs with every transition of the stream, before the other notifications. */
  moved(from: StreamState, to: StreamState): void;
  accepted(stream: Stream): void;
  asked(stream: Stream): void;
  ended(stream: Stream, kind: EndKind, end: RouterFailure): void;
}

/**
 * `opening`: the call exists, but maybe no connection yet. `waiting`: the router may pick it. `deciding`: it carried its
 * request, and has no answer yet. `answered`: the router has yet to end it.
 */
export type StreamState = 'opening' | 'waiting' | 'deciding' | 'answered' | 'ended';

/** Any other step does not fit, such as a second request or an answer after the end. */
const NEXT: Readonly<Record<StreamState, readonly StreamState[]>> = {
  // A request may arrive before the notification that the connection is up.
  opening: ['waiting', 'deciding', 'ended'],
  waiting: ['deciding', 'ended'],
  deciding: ['answered', 'ended'],
  answered: ['ended'],
  ended: [],
};

/**
 * The relay cancels a stream that stays longer in one state. Waiting has no bound, since the router ages those. Opening includes
 * DNS, TLS and a proxy. The router times out within 20 s, and ends an answered stream immediately. Slower ends get time, because
 * servers and proxies take many cancelled streams for an attack.
 */
const LONGEST_MS: Readonly<Partial<Record<StreamState, number>>> = {
  opening: 20_000,
  deciding: 30_000,
  answered: 10_000,
};

/**
 * `served`: it had its request; `aged`: a clean end without one, normal after a while; `brief`: a clean end right after it
 * was opened, harmless unless it repeats; `refused`: ended with an error before it counted as accepted; `failed`: later.
 */
export type EndKind = 'served' | 'aged' | 'brief' | 'refused' | 'failed';

/** A router that ends younger streams has no room for them or is broken. One that is silent longer accepts them. */
export const ACCEPTED_AFTER_MS = 1_000;

/** The router gave up this request or refused its answer. Other streams are not affected. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([
  STATUS.OK,
  STATUS.CANCELLED,
  STATUS.INVALID_ARGUMENT,
  STATUS.DEADLINE_EXCEEDED,
]);

/** One AdmitJob stream. */
export class Stream implements AdmitCallListener {
  readonly #owner: StreamOwner;
  #state: StreamState = 'opening';
  #sinceMs: number;
  #call: AdmitCall | undefined;
  #cancelled = false;
  #message: RouterMessage | undefined;
  #delivered: ((heard: boolean, refusal?: string) => void) | undefined;
  wasAsked = false;
  tooLarge = false;
  answered: RouterResponse['outcome'] | undefined;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
    this.#sinceMs = owner.nowMs();
  }

  get state(): StreamState {
    return this.#state;
  }

  open(router: Pick<Router, 'admitJob'>): void {
    this.#call = router.admitJob(this);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancel();
  }

  cancelOverdue(nowMs: number): void {
    if (nowMs - this.#sinceMs > (LONGEST_MS[this.#state] ?? Number.POSITIVE_INFINITY)) this.cancel();
  }

  onWaiting(): void {
    if (this.#step('waiting')) this.#owner.accepted(this);
  }

  onRequest(bytes: Uint8Array): void {
    if (this.#cancelled || !this.#step('deciding')) return;
    this.wasAsked = true;
    this.#owner.asked(this);
    const message: RouterMessage = { bytes, arrivedAtMs: this.#sinceMs };
    this.#message = message;
    this.#owner
      .answer(message)
      .then(({ answer, delivered }) => {
        this.#delivered = delivered;
        if (this.#send(this.#owner.encode(answer))) this.answered = answer.outcome;
        else delivered(false);
      })
      // `answer` never throws. If it does, the router must not wait for it.
      .catch((error: unknown) => {
        this.#owner.observe(ownFault('stream', error));
        this.cancel();
      });
  }

  onOversized(sizeBytes: number): void {
    this.tooLarge = true;
    this.#owner.observe({ type: 'unreadable', problem: 'larger than the message limit', sizeBytes });
  }

  onEnd(code: number, details: string, remedy?: string): void {
    const last = this.#state;
    const kind = this.#endKind(code);
    if (!this.#step('ended')) return;
    if (last === 'deciding') this.#message?.onGone?.();
    // Some routers leave answered calls open until we cancel them.
    const isHeard = code === STATUS.OK || (this.#cancelled && code === STATUS.CANCELLED);
    if (last === 'answered') this.#delivered?.(isHeard, refusalOf(code, details));
    this.#owner.ended(this, kind, { code, details, remedy });
  }

  #send(bytes: Uint8Array): boolean {
    if (this.#cancelled || this.#state !== 'deciding') return false;
    return this.#call?.answer(bytes) === true && this.#step('answered');
  }

  #step(to: StreamState): boolean {
    const from = this.#state;
    if (!NEXT[from].includes(to)) return false;
    this.#state = to;
    this.#sinceMs = this.#owner.nowMs();
    this.#owner.moved(from, to);
    return true;
  }

  #endKind(code: number): EndKind {
    // The limit is our own, but many such requests must still slow the pool down.
    if (this.tooLarge) return 'brief';
    if (this.wasAsked) return OF_THE_REQUEST.has(code) ? 'served' : 'failed';
    const accepted = this.#state === 'waiting' && this.#owner.nowMs() - this.#sinceMs >= ACCEPTED_AFTER_MS;
    if (code === STATUS.OK) return accepted ? 'aged' : 'brief';
    return accepted ? 'failed' : 'refused';
  }
}

/** Returns the router's text if it does not accept the answer. To grpc-js a stream reset is `INTERNAL`, and no refusal. */
const refusalOf = (code: number, details: string): string | undefined =>
  code === STATUS.INVALID_ARGUMENT || (code === STATUS.INTERNAL && !details.includes('Received RST_STREAM'))
    ? details
    : undefined;

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

/** Drawn from `firstMs` up to `firstMs * 2^n`: relays that lost the router together must not return to it together. */
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
  #state: 'stopped' | 'probing' | 'open' | 'backing_off' | 'draining' = 'stopped';
  /** Failures since a probe was last known to be accepted. */
  #attempt = 0;
  #openSinceMs = 0;
  #refusedInRow = 0;
  /** The stream that has yet to show that the router accepts us. Until then it does not count as waiting. */
  probe: Stream | undefined;
  /** Since when the router has no stream, on the monotonic clock. Undefined while it has one. */
  downSinceMs: number | undefined;
  everConnected = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.downSinceMs = this.#nowMs();
  }

  get state() {
    return this.#state;
  }

  get needsProbe(): boolean {
    return this.#state === 'probing' && this.probe === undefined;
  }

  start(): void {
    this.downSinceMs = this.#nowMs();
    this.#become('probing');
  }

  drain(): void {
    this.#timers.cancelAll();
    this.#become('draining');
  }

  /** The stream is on a live connection. Routers need not answer before they ask, so silence counts as acceptance. */
  onWaiting(stream: Stream): void {
    if (stream === this.probe)
      this.#timers.after('acceptance', ACCEPTED_AFTER_MS, () => this.#accepted(false));
    if (this.#state === 'open') this.#connected();
  }

  onRequest(stream: Stream): void {
    this.#refusedInRow = 0;
    if (stream === this.probe) this.#accepted(true);
  }

  onEnd(stream: Stream, kind: EndKind, end: RouterFailure, left: number): void {
    const isProbe = stream === this.probe;
    if (isProbe) this.#timers.cancel('acceptance');
    const refused = kind === 'refused' || kind === 'brief';
    const failed = kind === 'refused' || kind === 'failed';
    if (refused) this.#refusedInRow += 1;
    else if (kind !== 'failed') this.#refusedInRow = 0;
    const loops = refused && this.#refusedInRow > Math.max(REFUSED_IN_ROW_MAX, left);
    if (this.#state === 'probing') {
      // Other streams end with the incident before.
      if (!isProbe && this.probe !== undefined) return;
      if (kind === 'aged') this.#accepted(false);
      else if (failed || loops) this.#backOff(end);
      else this.probe = undefined;
    } else if (this.#state === 'open' && (loops || (failed && left === 0))) {
      if (this.#nowMs() - this.#openSinceMs >= RECOVERED_AFTER_MS) this.#attempt = 0;
      this.#backOff(end);
    }
  }

  #become(state: typeof this.state): void {
    this.#state = state;
    this.probe = undefined;
  }

  #backOff({ code, details, remedy }: RouterFailure): void {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const delayMs = backoffMs(code, attempt, this.#deps.random);
    this.#become('backing_off');
    this.#deps.observe({ type: 'backing_off', code, details, remedy, attempt, delayMs });
    this.#timers.after('pause', delayMs, () => {
      this.#become('probing');
      this.#deps.mayOpen(true);
    });
  }

  /** @param asked - a request is proof; silence is not, so the next failure continues the count of attempts. */
  #accepted(asked: boolean): void {
    if (this.#state !== 'probing') return;
    this.#timers.cancel('acceptance');
    this.#refusedInRow = 0;
    this.#become('open');
    if (asked) this.#attempt = 0;
    this.#openSinceMs = this.#nowMs();
    this.#connected();
    this.#deps.mayOpen(false);
  }

  #connected(): void {
    if (this.downSinceMs === undefined) return;
    const downMs = this.#nowMs() - this.downSinceMs;
    this.downSinceMs = undefined;
    this.#deps.observe({ type: 'connected', downMs, again: this.everConnected });
    this.everConnected = true;
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
