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
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import type { RouterFailure } from '../router/failure.ts';
import { STATUS } from '../router/router.ts';
import { ACCEPTED_AFTER_MS, type EndKind, type Stream } from './stream.ts';

/** `attempt` counts the failures since a probe was last known to be accepted. */
type State =
  | { readonly name: 'stopped' | 'draining' }
  | { readonly name: 'probing'; readonly attempt: number; readonly probe?: Stream }
  | { readonly name: 'open'; readonly attempt: number; readonly sinceMs: number }
  | { readonly name: 'backing_off'; readonly attempt: number };

export type ConnectionState = State['name'];

/** Pause after the n-th failure in a row: drawn from `firstMs` up to `firstMs * 2^n`, at most `maxMs`. */
interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The router refused the token, so another token ends the pause. @default false */
  readonly ofToken?: true;
}

/** No answer came. A router that is back is found within 2 s, and one attempt costs nothing. */
const NO_ANSWER: Backoff = { firstMs: 100, maxMs: 2_000 };
/** The router or a proxy answered with an error. It may be one of several routers, or be starting. */
const REFUSED: Backoff = { firstMs: 1_000, maxMs: 10_000 };
/** KAS caches a refused token for a minute, and more attempts only fill its log. */
const TOKEN_REFUSED: Backoff = { firstMs: 1_000, maxMs: 60_000, ofToken: true };

const BACKOFF: Readonly<Record<number, Backoff>> = {
  [STATUS.OK]: NO_ANSWER,
  [STATUS.UNAVAILABLE]: NO_ANSWER,
  [STATUS.UNAUTHENTICATED]: TOKEN_REFUSED,
  [STATUS.PERMISSION_DENIED]: TOKEN_REFUSED,
  [STATUS.NOT_FOUND]: { ...REFUSED, ofToken: true },
};

const backoffAfter = (code: number): Backoff => BACKOFF[code] ?? REFUSED;

/** Relays that lost the router together must not return to it together, so the pause is drawn. */
export function backoffMs(code: number, attempt: number, random: () => number): number {
  const { firstMs, maxMs } = backoffAfter(code);
  const span = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30)) - firstMs;
  return Math.round(firstMs + random() * span);
}

/** A connection that stays open this long has recovered; the next failure counts as the first. */
const RECOVERED_AFTER_MS = 10_000;
/** More refusals in a row than a restart of one of several routers explains. */
const REFUSED_IN_ROW_MAX = 32;
/** While the token is refused: an operator who replaced it sees it work within a second. */
const TOKEN_CHECK_MS = 1_000;

interface ConnectionDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** Returns true if the token is not the one that the last call carried. */
  readonly tokenReplaced: () => boolean;
  /** Runs when streams may be opened: `now` after a pause, else with the next refill. */
  readonly mayOpen: (now: boolean) => void;
}

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #timers: Timers<'pause' | 'acceptance' | 'token'>;
  #state: State = { name: 'stopped' };
  /** Streams refused since one was last accepted. */
  #refusedInRow = 0;
  #downSinceMs: number | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.#downSinceMs = this.#nowMs();
  }

  get state(): ConnectionState {
    return this.#state.name;
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

  /** @param left - streams that still wait or carry a question. */
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

  /** The router has no stream any more. */
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
    this.#timers.after('pause', delayMs, () => this.#probeAgain(attempt));
    if (backoffAfter(code).ofToken !== true) return;
    this.#timers.every('token', TOKEN_CHECK_MS, () => {
      // Refusals of the token before say nothing about the new one.
      if (this.#deps.tokenReplaced()) this.#probeAgain(0);
    });
  }

  #probeAgain(attempt: number): void {
    this.#timers.cancelAll();
    this.#state = { name: 'probing', attempt };
    this.#deps.mayOpen(true);
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
    this.#deps.observe({ type: 'connected', downMs });
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
