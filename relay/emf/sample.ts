/** Forty a second for a minute are kept whole; beyond that, each has the same chance to be among these. */
export const SAMPLE_MAX = 2_400;

/** A bounded, fair choice of the values of a minute, and always the largest of them: a reservoir. */
export class Sample {
  readonly #random: () => number;
  #kept: number[] = [];
  #seen = 0;
  #largest = Number.NEGATIVE_INFINITY;

  /** @param random - [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  add(value: number): void {
    this.#seen += 1;
    this.#largest = Math.max(this.#largest, value);
    if (this.#kept.length < SAMPLE_MAX) {
      this.#kept.push(value);
      return;
    }
    const place = Math.floor(this.#random() * this.#seen);
    if (place < SAMPLE_MAX) this.#kept[place] = value;
  }

  /** What was kept, and begins anew. */
  take(): readonly number[] {
    const taken = this.#seen > SAMPLE_MAX ? [...this.#kept, this.#largest] : this.#kept;
    this.#kept = [];
    this.#seen = 0;
    this.#largest = Number.NEGATIVE_INFINITY;
    return taken;
  }
}
