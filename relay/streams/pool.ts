/**
 * Keeps AdmitJob streams waiting at the router, one question each, and opens the next as soon as one is taken. What a
 * stream does is in stream.ts, when streams may be opened in gate.ts, how many in pool-size.ts, how long to wait after
 * a failure in backoff.ts; this file runs them.
 */
import type { Observe } from '../events.ts';
import type { AnswerQuestion, RelayClock } from '../exchange.ts';
import { ownFault } from '../own-fault.ts';
import { type Router, STATUS } from '../router/router.ts';
import { type Allowance, fullAllowance, spend } from './allowance.ts';
import { backoffMs, remedyFor } from './backoff.ts';
import { endKind } from './end-kind.ts';
import { FIRST_GATE, failed, type Gate, lived, PROBATION_MS, waited } from './gate.ts';
import { grown, missing, POOL_SIZES, type PoolSizes, SHRINK_EVERY_MS, shrunk } from './pool-size.ts';
import { type EncodeAnswer, Stream, type StreamOwner } from './stream.ts';
import type { StreamState } from './stream-state.ts';
import { Timers } from './timers.ts';

/** Spreads the reopening of streams that ended together; none waits longer than a person would notice. */
const REOPEN_JITTER_MS = 50;
/** How often streams stuck in one state are looked for. */
const SWEEP_EVERY_MS = 5_000;
/** Less than the 10 s a container has to stop, with room to flush what follows. */
const DRAIN_MS_MAX = 7_000;

type TimerName = 'backoff' | 'probation' | 'reopen' | 'sweep' | 'shrink' | 'drain';

export interface StreamPoolOptions {
  readonly router: Router;
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: Observe;
  /** @default {@link POOL_SIZES} */
  readonly sizes?: PoolSizes;
  /** Runs once the questions of one packet are all in. @default setImmediate */
  readonly defer?: (run: () => void) => void;
}

export interface StreamPoolStatus {
  readonly state: 'stopped' | Gate['name'] | 'draining';
  readonly open: number;
  /** On a live connection, without a question. */
  readonly waiting: number;
  /** Questions whose answer is not delivered yet. */
  readonly busy: number;
  readonly wanted: number;
  /** Monotonic; undefined while no stream was ever accepted or one is now. */
  readonly downSinceMs: number | undefined;
}

export interface StreamPool {
  start(): void;
  /**
   * Opens no more, cancels streams without a question, lets questions in progress be answered. Resolves when all have
   * ended, after 7 s at the latest.
   */
  drain(): Promise<void>;
  status(): StreamPoolStatus;
}

export const createStreamPool = (options: StreamPoolOptions): StreamPool => new Pool(options);

class Pool implements StreamPool, StreamOwner {
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  readonly #options: StreamPoolOptions;
  readonly #sizes: PoolSizes;
  readonly #streams = new Set<Stream>();
  #life: 'stopped' | 'running' | 'draining' = 'stopped';
  #gate: Gate = FIRST_GATE;
  #probe: Stream | undefined;
  #allowance: Allowance;
  #wanted: number;
  /** Streams that carry no question, and those that do. */
  #free = 0;
  #busy = 0;
  /** Questions since streams were last opened: what a packet took at once. */
  #taken = 0;
  #accepted = 0;
  #downSinceMs: number | undefined;
  #refilling = false;
  readonly #timers: Timers<TimerName>;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: StreamPoolOptions) {
    this.#options = options;
    this.#sizes = options.sizes ?? POOL_SIZES;
    this.#timers = new Timers(options.clock);
    this.answer = options.answer;
    this.encode = options.encode;
    this.#wanted = this.#sizes.start;
    this.#downSinceMs = this.nowMs();
    this.#allowance = fullAllowance(this.nowMs());
  }

  start(): void {
    if (this.#life !== 'stopped') return;
    this.#life = 'running';
    this.#downSinceMs = this.nowMs();
    this.#timers.every('sweep', SWEEP_EVERY_MS, () => {
      const nowMs = this.nowMs();
      for (const stream of this.#streams) stream.cancelOverdue(nowMs);
    });
    this.#timers.every('shrink', SHRINK_EVERY_MS, () => {
      this.#wanted = shrunk({ wanted: this.#wanted, waiting: this.#free, busy: this.#busy }, this.#sizes);
    });
    this.#refill();
  }

  drain(): Promise<void> {
    if (this.#drained !== undefined) return this.#drained.promise;
    this.#drained = Promise.withResolvers();
    this.#life = 'draining';
    this.#timers.cancelAll();
    for (const stream of [...this.#streams]) if (stream.free) stream.cancel();
    this.#timers.after('drain', DRAIN_MS_MAX, () => {
      for (const stream of [...this.#streams]) stream.cancel();
      this.#drained?.resolve();
    });
    this.#finishDrain();
    return this.#drained.promise;
  }

  status(): StreamPoolStatus {
    return {
      state: this.#life === 'running' ? this.#gate.name : this.#life,
      open: this.#streams.size,
      waiting: this.#accepted,
      busy: this.#busy,
      wanted: this.#wanted,
      downSinceMs: this.#downSinceMs,
    };
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  accepted(stream: Stream): void {
    this.#accepted += 1;
    if (stream === this.#probe) this.#timers.after('probation', PROBATION_MS, () => this.#probeLived(false));
    else if (this.#gate.name === 'open') this.#connected();
  }

  asked(stream: Stream, last: StreamState): void {
    this.#free -= 1;
    this.#busy += 1;
    this.#taken += 1;
    if (last.name === 'waiting') this.#accepted -= 1;
    this.#options.observe({ type: 'question' });
    if (stream === this.#probe) this.#probeLived(true);
    this.#refillSoon();
  }

  failedToAnswer(error: unknown): void {
    this.#options.observe(ownFault('stream', error));
  }

  oversized(sizeBytes: number): void {
    this.#options.observe({ type: 'unreadable', problem: 'larger than the message limit', sizeBytes });
  }

  ended(stream: Stream, last: StreamState, code: number, details: string): void {
    const nowMs = this.nowMs();
    this.#streams.delete(stream);
    const asked = last.name === 'deciding' || last.name === 'answered';
    if (asked) this.#busy -= 1;
    else this.#free -= 1;
    if (last.name === 'waiting') this.#accepted -= 1;
    if (this.#life === 'draining') {
      this.#finishDrain();
      return;
    }
    this.#options.observe({ type: 'stream_ended', code, details, asked: asked || stream.tooLarge });
    const kind = endKind(last, code, stream.tooLarge, nowMs);
    if (kind === 'failed') this.#failed(stream, code, nowMs);
    else if (kind === 'brief') this.#brief(stream, nowMs);
    else if (kind === 'aged' && stream === this.#probe) this.#probeLived(false);
    if (stream === this.#probe) this.#dropProbe();
    this.#noteDown(nowMs);
    if (!asked) this.#reopenSoon();
  }

  #failed(stream: Stream, code: number, nowMs: number): void {
    // While a probe is out only its own fate counts: the others are of the incident before.
    if (this.#gate.name === 'probing' && this.#probe !== undefined && stream !== this.#probe) return;
    const gate = failed(this.#gate, code, nowMs);
    if (gate === this.#gate || gate.name !== 'backing_off') return;
    this.#gate = gate;
    this.#dropProbe();
    const delayMs = backoffMs(code, gate.attempt, this.#options.random);
    const remedy = remedyFor(code);
    this.#options.observe({
      type: 'backing_off',
      code,
      attempt: gate.attempt,
      delayMs,
      ...(remedy === undefined ? {} : { remedy }),
    });
    this.#timers.after('backoff', delayMs, () => {
      this.#gate = waited(this.#gate);
      this.#refill();
    });
  }

  #brief(stream: Stream, nowMs: number): void {
    const left = spend(this.#allowance, nowMs);
    // Ended without fault, but too often: the pace of a failed connection.
    if (left === undefined) this.#failed(stream, STATUS.OK, nowMs);
    else this.#allowance = left;
  }

  #dropProbe(): void {
    this.#probe = undefined;
    this.#timers.cancel('probation');
  }

  #probeLived(asked: boolean): void {
    this.#dropProbe();
    this.#gate = lived(this.#gate, asked, this.nowMs());
    this.#connected();
    this.#refillSoon();
  }

  #connected(): void {
    if (this.#downSinceMs === undefined) return;
    const downMs = this.nowMs() - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#options.observe({ type: 'connected', downMs });
  }

  #noteDown(nowMs: number): void {
    if (this.#accepted === 0 && this.#busy === 0) this.#downSinceMs ??= nowMs;
  }

  #refillSoon(): void {
    if (this.#refilling) return;
    this.#refilling = true;
    (this.#options.defer ?? setImmediate)(this.#refillNow);
  }

  readonly #refillNow = (): void => {
    this.#refilling = false;
    this.#refill();
  };

  /** At once when nothing waits any more, else after a moment in which others may end too. */
  #reopenSoon(): void {
    if (this.#gate.name === 'backing_off') return;
    if (this.#free === 0) this.#refillSoon();
    else if (!this.#timers.has('reopen')) {
      this.#timers.after('reopen', this.#options.random() * REOPEN_JITTER_MS, () => this.#refill());
    }
  }

  #refill(): void {
    if (this.#life !== 'running') return;
    if (this.#gate.name === 'probing' && this.#probe === undefined) {
      // Known as the probe before it opens: it may be accepted within the call.
      this.#probe = this.#newStream();
      this.#probe.open(this.#options.router);
    } else if (this.#gate.name === 'open') {
      // Only what questions took counts: streams that ended are no sign of a pool too small.
      const before = {
        wanted: this.#wanted,
        waiting: Math.max(0, this.#wanted - this.#taken),
        busy: this.#busy,
      };
      this.#wanted = grown(before, this.#sizes);
      const occupancy = { wanted: this.#wanted, waiting: this.#free, busy: this.#busy };
      for (let left = missing(occupancy, this.#sizes); left > 0; left -= 1)
        this.#newStream().open(this.#options.router);
    }
    this.#taken = 0;
    this.#options.observe({
      type: 'streams',
      open: this.#streams.size,
      waiting: this.#accepted,
      wanted: this.#wanted,
    });
  }

  #newStream(): Stream {
    const stream = new Stream(this);
    this.#streams.add(stream);
    this.#free += 1;
    return stream;
  }

  #finishDrain(): void {
    if (this.#streams.size > 0) return;
    this.#timers.cancel('drain');
    this.#drained?.resolve();
  }
}
