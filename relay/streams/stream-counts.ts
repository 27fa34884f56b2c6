import type { StreamState } from './stream-state.ts';

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
