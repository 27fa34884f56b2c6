import type { RouterClock } from '../clock/clock.ts';

/** Jobs that may wait for a stream at the same time; more would test this machine's memory. */
const FINDERS_MAX = 100_000;

/**
 * The idle streams of one controller. A job takes one at random, as GitLab does by walking an unordered map. If no
 * stream is idle, the job waits, and the next stream serves the oldest job.
 */
export class WaitingStreams<Stream> {
  readonly #streams: Stream[] = [];
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

  /** Jobs that wait for a stream. */
  get finders(): number {
    return this.#finders.size;
  }

  all(): readonly Stream[] {
    return [...this.#streams];
  }

  add(stream: Stream): void {
    const [finder] = this.#finders;
    if (finder === undefined) this.#streams.push(stream);
    else finder(stream);
  }

  /** Removes a stream that ended, if no job has just taken it. */
  remove(stream: Stream): void {
    const place = this.#streams.indexOf(stream);
    if (place >= 0) this.#streams.splice(place, 1);
  }

  /** Returns an idle stream, now or within `timeoutMs`; undefined if none came. */
  take(timeoutMs: number): Promise<Stream | undefined> {
    const place = Math.floor(this.#random() * this.#streams.length);
    const [stream] = this.#streams.splice(place, 1);
    if (stream !== undefined) return Promise.resolve(stream);
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

  /** Ends the wait of every job without a stream. */
  close(): void {
    for (const finder of [...this.#finders]) finder(undefined);
  }
}
