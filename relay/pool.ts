/**
 * Keeps AdmitJob streams waiting at the router, one request each, and opens the next one when a stream is taken.
 *
 * 1. connection.ts decides when streams may be opened; this file decides how many.
 * 2. A refill opens what is missing, once for all that happens in one moment.
 * 3. A drain opens no stream, leaves the waiting ones to the router for 3 s, and lets every request be answered.
 */
import {
  Connection,
  type EndKind,
  Stream,
  type StreamOwner,
  type StreamState,
  Timers,
} from './connection.ts';
import type { RelayClock } from './exchange.ts';
import type { Router, RouterFailure } from './router/router.ts';

export interface PoolSizes {
  readonly start: number;
  readonly max: number;
  /** Streams at most that wait or carry a request. It bounds the jobs that one relay decides at the same time. */
  readonly openMax: number;
}

/**
 * Start 8: GitLab advises a handful. Max 256: one relay answers some 1000 requests a second, a quarter of them
 * within one round trip. Beyond 1024 the router's own queue (20 s) is the better place to wait.
 */
const POOL_SIZES: PoolSizes = { start: 8, max: 256, openMax: 1_024 };

/** Requests that come a while apart must not undo in a moment what a burst has shown. */
const SHRINK_EVERY_MS = 30_000;
const SWEEP_EVERY_MS = 1_000;
/** Spreads the reopening of streams that ended together. A person does not notice 50 ms. */
const REOPEN_MS_MAX = 50;
/** After a failure while other streams live. A burst of failures arrives before it, and the refill is one. */
const REOPEN_FAILED_MS = 100;
/** An answered stream that the router has yet to end takes a quarter of a place: cheap, but not free. */
const LINGERING_PER_PLACE = 4;

/** A drain leaves waiting streams to the router this long. Cancelling one whose request is on its way fails a job. */
const LEAVE_WAITING_MS = 3_000;
/** A container has 10 s to stop; this leaves room to flush what follows. */
const CUT_MS = 7_000;
/** A stream that is cut ends within moments, or its connection is dead. */
const CUT_GRACE_MS = 250;

export interface StreamPoolOptions extends Pick<StreamOwner, 'answer' | 'encode' | 'observe'> {
  readonly router: Pick<Router, 'admitJob'>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly sizes?: PoolSizes;
  /** Requests whose jobs wait for headroom. They come on top of all bounds. @default none */
  readonly parked?: () => number;
  readonly leaveWaitingMs?: number;
  /** Runs once the requests of one packet are all in. @default setImmediate */
  readonly defer?: (run: () => void) => void;
}

export const createStreamPool = (options: StreamPoolOptions): Pool => new Pool(options);

class Pool implements StreamOwner {
  readonly answer: StreamOwner['answer'];
  readonly encode: StreamOwner['encode'];
  readonly observe: StreamOwner['observe'];
  readonly #options: StreamPoolOptions;
  readonly #sizes: PoolSizes;
  readonly #connection: Connection;
  readonly #timers: Timers<'refill' | 'sweep' | 'shrink' | 'leave' | 'cut' | 'grace'>;
  readonly #streams = new Set<Stream>();
  readonly #in: Record<StreamState, number> = { opening: 0, waiting: 0, deciding: 0, answered: 0, ended: 0 };
  #wanted: number;
  /** Requests since the last refill. Only these show that the pool is too small; streams that ended do not. */
  #taken = 0;
  #refillDue = false;
  #deferred = false;
  #observed = { open: -1, waiting: -1, wanted: -1 };
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: StreamPoolOptions) {
    const { clock, random, observe, sizes = POOL_SIZES } = options;
    this.#options = options;
    this.#sizes = sizes;
    this.#wanted = sizes.start;
    this.answer = options.answer;
    this.encode = options.encode;
    this.observe = observe;
    this.#timers = new Timers(clock);
    this.#connection = new Connection({
      ...{ clock, random, observe },
      mayOpen: (now) => (now ? this.#refill() : this.#refillSoon()),
    });
  }

  start(): void {
    if (this.#connection.state !== 'stopped') return;
    this.#connection.start();
    this.#sweep();
    this.#timers.every('shrink', SHRINK_EVERY_MS, () => {
      this.#wanted = shrunk(this.#occupancy(), this.#sizes);
      this.#observeSizes();
    });
    this.#refill();
  }

  /**
   * Opens no more streams, leaves those that wait to the router for 3 s, then cancels them; lets requests in progress be
   * answered. Resolves when all have ended, after 7.25 s at the latest.
   */
  drain(): Promise<void> {
    if (this.#drained !== undefined) return this.#drained.promise;
    this.#drained = Promise.withResolvers();
    this.#connection.drain();
    this.#timers.cancelAll();
    this.#sweep();
    const { leaveWaitingMs = LEAVE_WAITING_MS } = this.#options;
    // Requests of the current network read come first.
    this.#timers.after('leave', leaveWaitingMs, () =>
      this.#defer(() => this.#cancel(({ state }) => state === 'opening' || state === 'waiting')),
    );
    this.#timers.after('cut', CUT_MS, () => {
      this.#timers.after('grace', CUT_GRACE_MS, () => this.#finishDrain());
      this.#cancel(() => true);
    });
    this.#cancel(({ state }) => state === 'opening');
    if (this.#streams.size === 0) this.#finishDrain();
    return this.#drained.promise;
  }

  status() {
    // A probe has yet to show that a request can reach it.
    const unproven = this.#connection.probe?.state === 'waiting' ? 1 : 0;
    const waiting = this.#in.waiting - unproven;
    const { state, downSinceMs, everConnected } = this.#connection;
    return {
      ...{ state, everConnected, waiting, busy: this.#in.deciding, wanted: this.#wanted },
      open: waiting + this.#in.deciding + this.#in.answered,
      downSinceMs,
    };
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  moved(from: StreamState, to: StreamState): void {
    this.#in[from] -= 1;
    this.#in[to] += 1;
    // The answer freed a place that a refill may have missed. It changes no observed number.
    if (to === 'answered' && this.#isShort) this.#refillAfter('served');
    if (to !== 'answered') this.#observeSoon();
  }

  accepted(stream: Stream): void {
    this.#connection.onWaiting(stream);
  }

  asked(stream: Stream): void {
    this.#taken += 1;
    this.observe({ type: 'request' });
    this.#connection.onRequest(stream);
    this.#refillSoon();
  }

  ended(stream: Stream, kind: EndKind, end: RouterFailure): void {
    this.#streams.delete(stream);
    const { wasAsked, tooLarge, answered } = stream;
    const draining = this.#drained !== undefined;
    this.observe({
      type: 'stream_ended',
      ...end,
      asked: wasAsked || tooLarge,
      failed: !draining && (kind === 'refused' || kind === 'failed'),
      answered,
    });
    if (draining) {
      if (this.#streams.size === 0) this.#finishDrain();
      return;
    }
    this.#connection.onEnd(stream, kind, end, this.#in.waiting + this.#in.deciding);
    if (this.status().open === 0) this.#connection.downSinceMs ??= this.nowMs();
    if (!wasAsked || this.#isShort) this.#refillAfter(kind);
  }

  get #free(): number {
    return this.#in.opening + this.#in.waiting;
  }

  get #isShort(): boolean {
    return this.#free < this.#wanted;
  }

  #occupancy(): Occupancy {
    const busy = Math.max(0, this.#in.deciding - (this.#options.parked?.() ?? 0));
    return { wanted: this.#wanted, waiting: this.#free, busy };
  }

  #refill(): void {
    this.#refillDue = false;
    if (this.#connection.needsProbe) {
      this.#open((probe) => {
        this.#connection.probe = probe;
      });
    } else if (this.#connection.state === 'open') {
      const waiting = Math.max(0, this.#wanted - this.#taken);
      this.#wanted = grown({ ...this.#occupancy(), waiting }, this.#sizes);
      for (let left = missing(this.#occupancy(), this.#sizes, this.#in.answered); left > 0; left -= 1)
        this.#open();
    }
    this.#taken = 0;
    this.#observeSizes();
  }

  #refillSoon(): void {
    this.#refillDue = true;
    this.#observeSoon();
  }

  /** Immediately when no stream waits, else after a moment in which others may end too. */
  #refillAfter(kind: EndKind): void {
    if (this.#connection.state === 'backing_off') return;
    const failed = kind === 'refused' || kind === 'failed';
    if (!failed && this.#free === 0) this.#refillSoon();
    else if (!this.#timers.has('refill')) {
      const [leastMs, spanMs] = failed ? [REOPEN_FAILED_MS, REOPEN_FAILED_MS] : [0, REOPEN_MS_MAX];
      this.#timers.after('refill', leastMs + this.#options.random() * spanMs, () => this.#refill());
    }
  }

  /** @param known - receives the stream before it opens: it may be accepted within the call. */
  #open(known?: (stream: Stream) => void): void {
    const stream = new Stream(this);
    this.#streams.add(stream);
    this.#in.opening += 1;
    known?.(stream);
    stream.open(this.#options.router);
  }

  #sweep(): void {
    this.#timers.every('sweep', SWEEP_EVERY_MS, () => {
      const nowMs = this.nowMs();
      for (const stream of this.#streams) stream.cancelOverdue(nowMs);
    });
  }

  #cancel(which: (stream: Stream) => boolean): void {
    for (const stream of [...this.#streams]) if (which(stream)) stream.cancel();
  }

  #finishDrain(): void {
    this.#timers.cancelAll();
    this.#drained?.resolve();
  }

  #defer(run: () => void): void {
    (this.#options.defer ?? setImmediate)(run);
  }

  #observeSoon(): void {
    if (this.#deferred) return;
    this.#deferred = true;
    this.#defer(this.#catchUp);
  }

  readonly #catchUp = (): void => {
    this.#deferred = false;
    if (this.#refillDue) this.#refill();
    else this.#observeSizes();
  };

  #observeSizes(): void {
    const { open, waiting, wanted } = this.status();
    const before = this.#observed;
    if (before.open === open && before.waiting === waiting && before.wanted === wanted) return;
    this.#observed = { open, waiting, wanted };
    this.observe({ type: 'streams', open, waiting, wanted });
  }
}

interface Occupancy {
  readonly wanted: number;
  readonly waiting: number;
  readonly busy: number;
}

/** Doubles while less than a quarter of the wanted streams, or of the open ones, wait. */
function grown({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes): number {
  const short = waiting * 4 < Math.max(wanted, waiting + busy);
  return short ? Math.min(sizes.max, wanted * 2) : wanted;
}

/** Shrinks by an eighth (at least one) while more than half wait. Surplus streams age out. None is cut off. */
function shrunk({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes): number {
  const idle = waiting * 2 > waiting + busy;
  return idle ? Math.max(sizes.start, wanted - Math.ceil(wanted / 8)) : wanted;
}

/** Returns the number of streams to open. @param lingering - answered streams that have not ended. */
function missing({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes, lingering: number): number {
  const places = sizes.openMax - waiting - busy - Math.floor(lingering / LINGERING_PER_PLACE);
  return Math.max(0, Math.min(wanted - waiting, places));
}
