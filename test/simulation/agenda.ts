/** Work by time, earliest first; equal times in the order they were added. */
export class Agenda<T> {
  readonly #entries: { readonly atMs: number; readonly value: T }[] = [];

  get nextMs(): number {
    return this.#entries.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
  }

  add(atMs: number, value: T): void {
    const entries = this.#entries;
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((entries[middle]?.atMs ?? 0) > atMs) low = middle + 1;
      else high = middle;
    }
    entries.splice(low, 0, { atMs, value });
  }

  take(untilMs: number): T | undefined {
    return this.nextMs <= untilMs ? this.#entries.pop()?.value : undefined;
  }

  takeAll(untilMs: number): readonly T[] {
    const from = this.#entries.findIndex(({ atMs }) => atMs <= untilMs);
    return from < 0
      ? []
      : this.#entries
          .splice(from)
          .reverse()
          .map(({ value }) => value);
  }
}
