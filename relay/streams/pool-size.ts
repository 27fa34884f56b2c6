import type { StreamState } from './stream.ts';

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

export interface Occupancy {
  /** How many streams should wait. */
  readonly wanted: number;
  /** How many do. */
  readonly waiting: number;
  /** How many carry a question that has no answer yet. */
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

/** How many streams are in each state of their life. */
export class StreamCounts {
  readonly #in: Record<Living, number> = { opening: 0, waiting: 0, deciding: 0, answered: 0, sent: 0 };

  opened(): void {
    this.#in.opening += 1;
  }

  moved(from: StreamState['name'], to: StreamState['name']): void {
    if (from !== 'ended') this.#in[from] -= 1;
    if (to !== 'ended') this.#in[to] += 1;
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
}
