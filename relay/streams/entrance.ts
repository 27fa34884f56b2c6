/** Runs the gate: sends one probe ahead, waits after a failure, and looks meanwhile whether the token was replaced. */
import type { Observe } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { STATUS } from '../router/router.ts';
import { type Allowance, fullAllowance, spend } from './allowance.ts';
import { backoffMs, refusesToken, remedyFor } from './backoff.ts';
import type { EndKind } from './end-kind.ts';
import { FIRST_GATE, failed, type Gate, lived, PROBATION_MS, waited } from './gate.ts';
import type { Stream } from './stream.ts';
import { Timers } from './timers.ts';

/** While the router refuses the token: whoever replaced it wants to see it work. */
const LOOK_EVERY_MS = 1_000;

export interface EntranceDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: Observe;
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

  constructor(deps: EntranceDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.#allowance = fullAllowance(this.#nowMs());
  }

  get state(): Gate['name'] {
    return this.#gate.name;
  }

  /** Whether a stream may be opened as the probe. */
  get needsProbe(): boolean {
    return this.#gate.name === 'probing' && this.#probe === undefined;
  }

  /** Not yet proved to be taken by the router, however alive its connection. */
  get probe(): Stream | undefined {
    return this.#probe;
  }

  send(probe: Stream): void {
    this.#probe = probe;
  }

  accepted(stream: Stream): void {
    if (stream !== this.#probe) return;
    this.#timers.after('probation', PROBATION_MS, () => this.#probeLived(false));
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
    this.#deps.passed();
  }

  #dropProbe(): void {
    this.#probe = undefined;
    this.#timers.cancel('probation');
  }

  #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}
