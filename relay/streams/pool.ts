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
import { type PoolSizes, SHRINK_EVERY_MS, StreamCounts, StreamSource } from './pool-size.ts';
import {
  type EncodeAnswer,
  endKind,
  Stream,
  type StreamOwner,
  type StreamState,
  wasAsked,
} from './stream.ts';

/** How often streams stuck in one state are looked for. */
const SWEEP_EVERY_MS = 1_000;

export interface StreamPoolOptions {
  readonly router: Pick<Router, 'admitJob' | 'tokenReplaced'>;
  readonly answer: AnswerQuestion;
  readonly encode: EncodeAnswer;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** @default {@link POOL_SIZES} */
  readonly sizes?: PoolSizes;
  /** Questions kept open while their jobs wait for room: they take nobody's place. @default none */
  readonly parked?: () => number;
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
  readonly #streams = new Set<Stream>();
  readonly #counts: StreamCounts;
  readonly #entrance: Entrance;
  readonly #source: StreamSource;
  #life: 'stopped' | 'running' | 'draining' = 'stopped';
  /** What was last observed: the same again is no news. */
  #told = { open: -1, waiting: -1, wanted: -1 };
  readonly #timers: Timers<'reopen' | 'sweep' | 'shrink'>;
  #departure: Departure | undefined;

  constructor(options: StreamPoolOptions) {
    const { clock, random, observe, router } = options;
    this.#options = options;
    this.#counts = new StreamCounts(options.sizes, options.parked);
    this.#timers = new Timers(clock);
    this.answer = options.answer;
    this.encode = options.encode;
    this.#entrance = new Entrance({
      clock,
      random,
      observe,
      tokenReplaced: () => router.tokenReplaced(),
      passed: () => this.#source.soon(),
      reopened: () => this.#source.now(),
    });
    this.#source = new StreamSource({
      entrance: this.#entrance,
      counts: this.#counts,
      timers: this.#timers,
      random,
      isRunning: () => this.#life === 'running',
      open: (known) => this.#openStream(known),
      defer: (run) => this.#defer(run),
      tell: () => this.#tell(),
    });
  }

  start(): void {
    if (this.#life !== 'stopped') return;
    this.#life = 'running';
    this.#entrance.begin();
    this.#sweep();
    this.#timers.every('shrink', SHRINK_EVERY_MS, () => {
      this.#counts.shrink();
      this.#tell();
    });
    this.#source.now();
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
      wanted: this.#counts.wanted,
      downSinceMs: this.#entrance.downSinceMs,
    };
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  moved(from: StreamState['name'], to: StreamState['name']): void {
    this.#counts.moved(from, to);
    // A question gave its place back, which may be what was missing.
    if (to === 'answered' && this.#counts.isShort) this.#source.afterEnds();
    this.#source.tellSoon();
  }

  accepted(stream: Stream): void {
    this.#entrance.accepted(stream);
  }

  asked(stream: Stream): void {
    this.#counts.asked();
    this.#options.observe({ type: 'question' });
    this.#entrance.asked(stream);
    this.#source.soon();
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
    if (this.#open === 0) this.#entrance.down();
    if (!asked || this.#counts.isShort) this.#source.afterEnds();
  }

  /** Waiting where the router may pick it, as far as anybody can tell: a probe has yet to prove that. */
  get #waiting(): number {
    return this.#counts.waiting - (this.#entrance.probe?.state === 'waiting' ? 1 : 0);
  }

  get #open(): number {
    return this.#waiting + this.#counts.busy + this.#counts.lingering;
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

  #openStream(known?: (stream: Stream) => void): void {
    const stream = new Stream(this);
    this.#streams.add(stream);
    this.#counts.opened();
    known?.(stream);
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
