/**
 * Keeps AdmitJob streams waiting at the router, one question each, and opens the next as soon as one is taken. What a
 * stream does is in stream.ts, when streams may be opened in entrance.ts, how many in pool-size.ts; this file runs them.
 */
import type { RelayObserver } from '../events.ts';
import type { AnswerQuestion, RelayClock } from '../exchange.ts';
import { ownFault } from '../own-fault.ts';
import type { Router } from '../router/router.ts';
import { Departure } from './departure.ts';
import { Entrance, Timers } from './entrance.ts';
import type { Gate } from './gate.ts';
import {
  grown,
  missing,
  type Occupancy,
  POOL_SIZES,
  type PoolSizes,
  SHRINK_EVERY_MS,
  StreamCounts,
  shrunk,
} from './pool-size.ts';
import {
  type EncodeAnswer,
  endKind,
  Stream,
  type StreamOwner,
  type StreamState,
  wasAsked,
} from './stream.ts';

/** Spreads the reopening of streams that ended together; none waits longer than a person would notice. */
const REOPEN_JITTER_MS = 50;
/** How often streams stuck in one state are looked for. */
const SWEEP_EVERY_MS = 1_000;

type TimerName = 'reopen' | 'sweep' | 'shrink';

export interface StreamPoolOptions {
  readonly router: Pick<Router, 'admitJob' | 'tokenReplaced'>;
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** @default {@link POOL_SIZES} */
  readonly sizes?: PoolSizes;
  /** @default 3 s, see departure.ts */
  readonly attritionMs?: number;
  /** Runs once the questions of one packet are all in. @default setImmediate */
  readonly defer?: (run: () => void) => void;
}

interface StreamPoolStatus {
  readonly state: 'stopped' | Gate['name'] | 'draining';
  /** Streams that the router accepted, with a question or without; one that is only being opened is none. */
  readonly open: number;
  /** Part of `open`: streams without a question. */
  readonly waiting: number;
  /** Questions that have no answer yet. */
  readonly busy: number;
  readonly wanted: number;
  /** Monotonic; undefined while no stream was ever accepted or one is now. */
  readonly downSinceMs: number | undefined;
}

interface StreamPool {
  start(): void;
  /**
   * Opens no more streams, leaves those that wait to the router for 3 s, then cancels them; lets questions in progress be
   * answered. Resolves when all have ended, after 7.25 s at the latest.
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
  readonly #counts = new StreamCounts();
  readonly #entrance: Entrance;
  #life: 'stopped' | 'running' | 'draining' = 'stopped';
  #wanted: number;
  /** Questions since streams were last opened: what a packet took at once. */
  #taken = 0;
  #downSinceMs: number | undefined;
  #refillDue = false;
  #deferred = false;
  /** What was last observed: the same again is no news. */
  #told = { open: -1, waiting: -1, wanted: -1 };
  readonly #timers: Timers<TimerName>;
  #departure: Departure | undefined;

  constructor(options: StreamPoolOptions) {
    const { clock, random, observe, router } = options;
    this.#options = options;
    this.#sizes = options.sizes ?? POOL_SIZES;
    this.#timers = new Timers(clock);
    this.answer = options.answer;
    this.encode = options.encode;
    this.#wanted = this.#sizes.start;
    this.#downSinceMs = this.nowMs();
    this.#entrance = new Entrance({
      clock,
      random,
      observe,
      tokenReplaced: () => router.tokenReplaced(),
      passed: () => {
        this.#connected();
        this.#refillSoon();
      },
      reopened: () => this.#refill(),
    });
  }

  start(): void {
    if (this.#life !== 'stopped') return;
    this.#life = 'running';
    this.#downSinceMs = this.nowMs();
    this.#sweep();
    this.#timers.every('shrink', SHRINK_EVERY_MS, () => {
      this.#wanted = shrunk(this.#occupancy(), this.#sizes);
      this.#tell();
    });
    this.#refill();
  }

  drain(): Promise<void> {
    if (this.#departure !== undefined) return this.#departure.done;
    this.#life = 'draining';
    this.#entrance.close();
    this.#timers.cancelAll();
    this.#sweep();
    const { clock, attritionMs } = this.#options;
    this.#departure = new Departure({
      clock,
      attritionMs,
      defer: (run) => this.#defer(run),
      streams: this.#streams,
      left: () => this.#timers.cancelAll(),
    });
    this.#departure.begin();
    return this.#departure.done;
  }

  status(): StreamPoolStatus {
    return {
      state: this.#life === 'running' ? this.#entrance.state : this.#life,
      open: this.#open,
      waiting: this.#waiting,
      busy: this.#counts.busy,
      wanted: this.#wanted,
      downSinceMs: this.#downSinceMs,
    };
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  moved(from: StreamState['name'], to: StreamState['name']): void {
    this.#counts.moved(from, to);
    // A question gave its place back, which may be what was missing.
    if (to === 'answered' && this.#counts.free < this.#wanted) this.#reopenSoon();
    this.#tellSoon();
  }

  accepted(stream: Stream): void {
    this.#entrance.accepted(stream);
    if (this.#entrance.state === 'open') this.#connected();
  }

  asked(stream: Stream): void {
    this.#taken += 1;
    this.#options.observe({ type: 'question' });
    this.#entrance.asked(stream);
    this.#refillSoon();
  }

  failedToAnswer(error: unknown): void {
    this.#options.observe(ownFault('stream', error));
  }

  oversized(sizeBytes: number): void {
    this.#options.observe({ type: 'unreadable', problem: 'larger than the message limit', sizeBytes });
  }

  ended(stream: Stream, last: StreamState, code: number, details: string): void {
    this.#streams.delete(stream);
    if (this.#departure !== undefined) {
      this.#departure.ended();
      return;
    }
    const nowMs = this.nowMs();
    const asked = wasAsked(last);
    const { answered } = stream;
    this.#options.observe({
      type: 'stream_ended',
      code,
      details,
      asked: asked || stream.tooLarge,
      ...(answered !== undefined && { answered }),
    });
    this.#entrance.ended(stream, endKind(last, code, stream.tooLarge, nowMs), code);
    if (this.#open === 0) this.#downSinceMs ??= nowMs;
    if (!asked || this.#counts.free < this.#wanted) this.#reopenSoon();
  }

  /** Waiting where the router may pick it, as far as anybody can tell: a probe has yet to prove that. */
  get #waiting(): number {
    return this.#counts.waiting - (this.#entrance.probe?.state === 'waiting' ? 1 : 0);
  }

  get #open(): number {
    return this.#waiting + this.#counts.busy + this.#counts.lingering;
  }

  #occupancy(): Occupancy {
    return { wanted: this.#wanted, waiting: this.#counts.free, busy: this.#counts.busy };
  }

  #connected(): void {
    if (this.#downSinceMs === undefined) return;
    const downMs = this.nowMs() - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#options.observe({ type: 'connected', downMs });
  }

  #sweep(): void {
    this.#timers.every('sweep', SWEEP_EVERY_MS, () => {
      const nowMs = this.nowMs();
      for (const stream of this.#streams) stream.cancelOverdue(nowMs);
    });
  }

  #defer(run: () => void): void {
    (this.#options.defer ?? setImmediate)(run);
  }

  #refillSoon(): void {
    this.#refillDue = true;
    this.#tellSoon();
  }

  /** Once for all that happens in a moment. */
  #tellSoon(): void {
    if (this.#deferred) return;
    this.#deferred = true;
    this.#defer(this.#catchUp);
  }

  readonly #catchUp = (): void => {
    this.#deferred = false;
    if (this.#refillDue) this.#refill();
    else this.#tell();
  };

  /** At once when nothing waits any more, else after a moment in which others may end too. */
  #reopenSoon(): void {
    if (this.#entrance.state === 'backing_off') return;
    if (this.#counts.free === 0) this.#refillSoon();
    else if (!this.#timers.has('reopen')) {
      this.#timers.after('reopen', this.#options.random() * REOPEN_JITTER_MS, () => this.#refill());
    }
  }

  #refill(): void {
    this.#refillDue = false;
    if (this.#life === 'running') {
      // Known as the probe before it opens: it may be accepted within the call.
      if (this.#entrance.needsProbe) this.#openStream((stream) => this.#entrance.send(stream));
      else if (this.#entrance.state === 'open') this.#openMissing();
    }
    this.#taken = 0;
    this.#tell();
  }

  #openMissing(): void {
    // Only what questions took counts: streams that ended are no sign of a pool too small.
    const waiting = Math.max(0, this.#wanted - this.#taken);
    this.#wanted = grown({ ...this.#occupancy(), waiting }, this.#sizes);
    const left = missing(this.#occupancy(), this.#sizes, this.#counts.lingering);
    for (let opened = 0; opened < left; opened += 1) this.#openStream();
  }

  #openStream(known: (stream: Stream) => void = () => {}): void {
    const stream = new Stream(this);
    this.#streams.add(stream);
    this.#counts.opened();
    known(stream);
    stream.open(this.#options.router);
  }

  #tell(): void {
    const { open, waiting, wanted } = this.status();
    const told = this.#told;
    if (told.open === open && told.waiting === waiting && told.wanted === wanted) return;
    this.#told = { open, waiting, wanted };
    this.#options.observe({ type: 'streams', open, waiting, wanted });
  }
}
