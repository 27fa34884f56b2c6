/** How many streams there are and should be, and when those that are missing are opened. */
import type { Entrance, Timers } from './entrance.ts';
import type { Stream, StreamState } from './stream.ts';

/** How many streams should wait for a question: grows at once when they run short, shrinks slowly. */
export interface PoolSizes {
  /** Waiting streams from the start, and never fewer. */
  readonly start: number;
  /** Waiting streams at most. */
  readonly max: number;
  /** Streams at most that wait or carry a question: what one relay will decide at once. */
  readonly openMax: number;
}

/**
 * Start 8: GitLab's advice is a handful. Max 256: one relay answers some 1000 questions a second, a quarter of them
 * within one round trip. Beyond 1024 the router's own queue (20 s) is the better place to wait.
 */
export const POOL_SIZES: PoolSizes = { start: 8, max: 256, openMax: 1_024 };

/** A question a while apart must not undo in a moment what a burst has taught. */
export const SHRINK_EVERY_MS = 30_000;

interface Occupancy {
  /** How many streams should wait. */
  readonly wanted: number;
  /** How many do. */
  readonly waiting: number;
  /** How many carry a question that has no answer yet, those whose jobs wait for room left out. */
  readonly busy: number;
}

/** Answered streams that the router has yet to end: cheap, soon gone, and yet no reason to open calls without end. */
const LINGERING_PER_PLACE = 4;

/** Doubles while fewer than a quarter wait, either of those that should or of all that are open. */
export function grown({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes): number {
  const short = waiting * 4 < Math.max(wanted, waiting + busy);
  return short ? Math.min(sizes.max, wanted * 2) : wanted;
}

/** One eighth less (at least one) while more than half wait; streams that are too many age out, none is cut off. */
export function shrunk({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes): number {
  const idle = waiting * 2 > waiting + busy;
  return idle ? Math.max(sizes.start, wanted - Math.ceil(wanted / 8)) : wanted;
}

/** How many to open now. @param lingering - how many are answered and not ended yet. */
export function missing({ wanted, waiting, busy }: Occupancy, sizes: PoolSizes, lingering = 0): number {
  const places = sizes.openMax - waiting - busy - Math.floor(lingering / LINGERING_PER_PLACE);
  return Math.max(0, Math.min(wanted - waiting, places));
}

type Living = Exclude<StreamState['name'], 'ended'>;

/** Streams by the state of their life, and how many should wait for a question. */
export class StreamCounts {
  readonly #in: Record<Living, number> = { opening: 0, waiting: 0, deciding: 0, answered: 0, sent: 0 };
  readonly #sizes: PoolSizes;
  readonly #parked: () => number;
  #wanted: number;
  /** Questions since streams were last opened: what a packet took at once. */
  #taken = 0;

  /** @param parked - how many questions are kept open while their jobs wait for room: they come on top of all bounds. */
  constructor(sizes: PoolSizes = POOL_SIZES, parked: () => number = () => 0) {
    this.#sizes = sizes;
    this.#parked = parked;
    this.#wanted = sizes.start;
  }

  opened(): void {
    this.#in.opening += 1;
  }

  moved(from: StreamState['name'], to: StreamState['name']): void {
    if (from !== 'ended') this.#in[from] -= 1;
    if (to !== 'ended') this.#in[to] += 1;
  }

  asked(): void {
    this.#taken += 1;
  }

  /** Streams were opened, or may not be: what comes next is counted anew. */
  refilled(): void {
    this.#taken = 0;
  }

  /** How many to open now, once it is known how many should wait. */
  missing(): number {
    // Only what questions took counts: streams that ended are no sign of a pool too small.
    const waiting = Math.max(0, this.#wanted - this.#taken);
    this.#wanted = grown({ ...this.#occupancy(), waiting }, this.#sizes);
    return missing(this.#occupancy(), this.#sizes, this.lingering);
  }

  shrink(): void {
    this.#wanted = shrunk(this.#occupancy(), this.#sizes);
  }

  /** How many should wait. */
  get wanted(): number {
    return this.#wanted;
  }

  /** Fewer than should wait do. */
  get isShort(): boolean {
    return this.free < this.#wanted;
  }

  /** On a live connection, without a question. */
  get waiting(): number {
    return this.#in.waiting;
  }

  /** Streams without a question, whether connected or not. */
  get free(): number {
    return this.#in.opening + this.#in.waiting;
  }

  /** Streams with a question that has no answer yet. */
  get busy(): number {
    return this.#in.deciding;
  }

  /** Answered, and not ended by the router yet. */
  get lingering(): number {
    return this.#in.answered + this.#in.sent;
  }

  #occupancy(): Occupancy {
    const busy = Math.max(0, this.busy - this.#parked());
    return { wanted: this.#wanted, waiting: this.free, busy };
  }
}

/** Spreads the reopening of streams that ended together; none waits longer than a person would notice. */
const REOPEN_JITTER_MS = 50;

interface StreamSourceDeps {
  readonly entrance: Entrance;
  readonly counts: StreamCounts;
  readonly timers: Timers<'reopen' | 'sweep' | 'shrink'>;
  readonly random: () => number;
  readonly isRunning: () => boolean;
  /** @param known - told of the stream before it opens: it may be accepted within the call. */
  readonly open: (known?: (stream: Stream) => void) => void;
  /** Runs once what has arrived by now is read. */
  readonly defer: (run: () => void) => void;
  readonly tell: () => void;
}

/** Opens the streams that are missing, once for all that happens in a moment. */
export class StreamSource {
  readonly #deps: StreamSourceDeps;
  #due = false;
  #deferred = false;

  constructor(deps: StreamSourceDeps) {
    this.#deps = deps;
  }

  now(): void {
    const { entrance, counts, open } = this.#deps;
    this.#due = false;
    if (this.#deps.isRunning()) {
      if (entrance.needsProbe) open((stream) => entrance.send(stream));
      else if (entrance.state === 'open') for (let left = counts.missing(); left > 0; left -= 1) open();
    }
    counts.refilled();
    this.#deps.tell();
  }

  soon(): void {
    this.#due = true;
    this.tellSoon();
  }

  /** At once when nothing waits any more, else after a moment in which others may end too. */
  afterEnds(): void {
    const { entrance, counts, timers, random } = this.#deps;
    if (entrance.state === 'backing_off') return;
    if (counts.free === 0) this.soon();
    else if (!timers.has('reopen')) timers.after('reopen', random() * REOPEN_JITTER_MS, () => this.now());
  }

  tellSoon(): void {
    if (this.#deferred) return;
    this.#deferred = true;
    this.#deps.defer(this.#catchUp);
  }

  readonly #catchUp = (): void => {
    this.#deferred = false;
    if (this.#due) this.now();
    else this.#deps.tell();
  };
}
