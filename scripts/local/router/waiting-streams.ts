import type { RouterClock } from '../clock/clock.ts';

/** Jobs that may wait for a stream at once; beyond that memory, not the controller, would be what is tested. */
const FINDERS_MAX = 100_000;

/**
 * The idle streams of one controller. A job takes one at random, as GitLab does by walking an unordered map: no
 * stickiness, no fairness. The job waits if no stream is idle; the next stream to come serves the oldest job.
 */
export class WaitingStreams<Stream> {
  readonly #streams: Stream[] = [];
  readonly #places = new Map<Stream, number>();
  readonly #finders = new Set<(stream: Stream | undefined) => void>();
  readonly #clock: RouterClock;
  readonly #random: () => number;

  constructor(clock: RouterClock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#streams.length;
  }

  /** Jobs waiting for a stream. */
  get finders(): number {
    return this.#finders.size;
  }

  all(): readonly Stream[] {
    return [...this.#streams];
  }

  add(stream: Stream): void {
    const [finder] = this.#finders;
    if (finder !== undefined) {
      finder(stream);
      return;
    }
    this.#places.set(stream, this.#streams.length);
    this.#streams.push(stream);
  }

  /** Forgets a stream that ended; no harm if a job has just taken it. */
  remove(stream: Stream): void {
    const place = this.#places.get(stream);
    if (place === undefined) return;
    this.#places.delete(stream);
    const last = this.#streams.pop();
    if (last === undefined || last === stream) return;
    this.#streams[place] = last;
    this.#places.set(last, place);
  }

  /** One idle stream, now or within `timeoutMs`; undefined if none came. */
  take(timeoutMs: number): Promise<Stream | undefined> {
    const stream = this.#streams[Math.floor(this.#random() * this.#streams.length)];
    if (stream !== undefined) {
      this.remove(stream);
      return Promise.resolve(stream);
    }
    if (this.#finders.size >= FINDERS_MAX) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const finish = (found: Stream | undefined) => {
        this.#finders.delete(finish);
        cancelTimeout();
        resolve(found);
      };
      const cancelTimeout = this.#clock.after(timeoutMs, () => finish(undefined));
      this.#finders.add(finish);
    });
  }

  /** Sends every waiting job away empty-handed. */
  close(): void {
    for (const finder of [...this.#finders]) finder(undefined);
  }
}
