/**
 * Runs the gate: sends one probe ahead, waits after a failure, and looks meanwhile whether the token was replaced. Knows
 * since when no stream is at the router.
 */
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { STATUS } from '../router/router.ts';
import { backoffMs, refusesToken, remedyFor } from './backoff.ts';
import { FIRST_GATE, failed, type Gate, lived, PROBATION_MS, waited } from './gate.ts';
import type { EndKind, Stream } from './stream.ts';

/** While the router refuses the token: whoever replaced it wants to see it work. */
const LOOK_EVERY_MS = 1_000;

interface EntranceDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** Whether the token is another one than that of the last call. */
  readonly tokenReplaced: () => boolean;
  /** The router takes us: a probe lives. */
  readonly passed: () => void;
  /** The pause is over. */
  readonly reopened: () => void;
}

export class Entrance {
  readonly #deps: EntranceDeps;
  readonly #timers: Timers<'backoff' | 'probation' | 'look'>;
  #gate: Gate = FIRST_GATE;
  #probe: Stream | undefined;
  #allowance: Allowance;
  #downSinceMs: number | undefined;

  constructor(deps: EntranceDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.#allowance = fullAllowance(this.#nowMs());
    this.#downSinceMs = this.#nowMs();
  }

  get state(): Gate['name'] {
    return this.#gate.name;
  }

  /** Monotonic; undefined while no stream was ever accepted or one is now. */
  get downSinceMs(): number | undefined {
    return this.#downSinceMs;
  }

  /** Whether a stream may be opened as the probe. */
  get needsProbe(): boolean {
    return this.#gate.name === 'probing' && this.#probe === undefined;
  }

  /** Not yet proved to be taken by the router, however alive its connection. */
  get probe(): Stream | undefined {
    return this.#probe;
  }

  /** The time without any stream begins now. */
  begin(): void {
    this.#downSinceMs = this.#nowMs();
  }

  send(probe: Stream): void {
    this.#probe = probe;
  }

  accepted(stream: Stream): void {
    if (stream === this.#probe) this.#timers.after('probation', PROBATION_MS, () => this.#probeLived(false));
    if (this.#gate.name === 'open') this.#connected();
  }

  asked(stream: Stream): void {
    if (stream === this.#probe) this.#probeLived(true);
  }

  ended(stream: Stream, kind: EndKind, code: number): void {
    if (kind === 'failed') this.#failed(stream, code);
    else if (kind === 'brief') this.#brief(stream);
    else if (kind === 'aged' && stream === this.#probe) this.#probeLived(false);
    if (stream === this.#probe) this.#dropProbe();
  }

  /** The last stream has gone. */
  down(): void {
    this.#downSinceMs ??= this.#nowMs();
  }

  close(): void {
    this.#timers.cancelAll();
    this.#probe = undefined;
  }

  #failed(stream: Stream, code: number): void {
    // While a probe is out only its own fate counts: the others are of the incident before.
    if (this.#gate.name === 'probing' && this.#probe !== undefined && stream !== this.#probe) return;
    const gate = failed(this.#gate, code, this.#nowMs());
    if (gate === this.#gate || gate.name !== 'backing_off') return;
    this.#gate = gate;
    this.#dropProbe();
    const delayMs = backoffMs(code, gate.attempt, this.#deps.random);
    const remedy = remedyFor(code);
    this.#deps.observe({
      type: 'backing_off',
      code,
      attempt: gate.attempt,
      delayMs,
      ...(remedy === undefined ? {} : { remedy }),
    });
    this.#timers.after('backoff', delayMs, () => this.#reopen(waited(this.#gate)));
    if (refusesToken(code)) {
      this.#timers.every('look', LOOK_EVERY_MS, () => {
        // Nothing is known of the new one: past refusals are not its own.
        if (this.#deps.tokenReplaced()) this.#reopen(FIRST_GATE);
      });
    }
  }

  #reopen(gate: Gate): void {
    this.#timers.cancelAll();
    this.#gate = gate;
    this.#deps.reopened();
  }

  #brief(stream: Stream): void {
    const left = spend(this.#allowance, this.#nowMs());
    // Ended without fault, but too often: the pace of a failed connection.
    if (left === undefined) this.#failed(stream, STATUS.OK);
    else this.#allowance = left;
  }

  #probeLived(asked: boolean): void {
    this.#dropProbe();
    this.#gate = lived(this.#gate, asked, this.#nowMs());
    this.#connected();
    this.#deps.passed();
  }

  #connected(): void {
    if (this.#downSinceMs === undefined) return;
    const downMs = this.#nowMs() - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#deps.observe({ type: 'connected', downMs });
  }

  #dropProbe(): void {
    this.#probe = undefined;
    this.#timers.cancel('probation');
  }

  #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}

/** Brief ends that cost nothing: a rolling restart of the router ends a pool's streams within moments. */
const BURST = 32;
/** Above this rate it is no restart but a loop. */
const PER_SECOND = 10;

/** A token bucket: how many streams may end right after they were opened before that counts as a failure. */
interface Allowance {
  readonly left: number;
  readonly atMs: number;
}

export const fullAllowance = (nowMs: number): Allowance => ({ left: BURST, atMs: nowMs });

/** The allowance after one brief end, or undefined if there was none left. */
export function spend(allowance: Allowance, nowMs: number): Allowance | undefined {
  const left = Math.min(BURST, allowance.left + ((nowMs - allowance.atMs) * PER_SECOND) / 1_000);
  return left < 1 ? undefined : { left: left - 1, atMs: nowMs };
}

/** Timers by what they are for: setting one again replaces it, and all can be stopped together. */
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
