/** Things to do at a time, earliest first; the first written down is first among equal times. */
export class Agenda<T> {
  readonly #heap: Entry<T>[] = [];
  #order = 0;

  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  add(atMs: number, value: T): void {
    const entry = { atMs, order: this.#order, value };
    this.#order += 1;
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  /** Everything planned before this time, in order. */
  takeUntil(atMs: number): readonly T[] {
    const taken: T[] = [];
    while (this.nextMs <= atMs) {
      const entry = this.#pop();
      if (entry !== undefined) taken.push(entry.value);
    }
    return taken;
  }

  #pop(): Entry<T> | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const leftEntry = heap[left];
      if (leftEntry === undefined) break;
      const rightEntry = heap[left + 1];
      const right = rightEntry !== undefined && before(rightEntry, leftEntry);
      const child = right ? rightEntry : leftEntry;
      if (!before(child, last)) break;
      heap[index] = child;
      index = right ? left + 1 : left;
    }
    heap[index] = last;
    return first;
  }
}

interface Entry<T> {
  readonly atMs: number;
  readonly order: number;
  readonly value: T;
}

const before = <T>(a: Entry<T>, b: Entry<T>): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
