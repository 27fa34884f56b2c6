/** An event at an instant. */
export interface TimedEvent {
  readonly atMs: number;
  readonly jobId: number;
}

/** A binary heap of events, earliest first, then by job id. It holds as many as jobs run in parallel. */
export class EndQueue<End extends TimedEvent> {
  readonly #heap: End[];

  /** @param all - as another queue gave them. */
  constructor(all: readonly End[] = []) {
    this.#heap = [...all];
  }

  get all(): readonly End[] {
    return this.#heap;
  }

  add(end: End): void {
    const heap = this.#heap;
    let at = heap.push(end) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || before(parent, end)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = end;
  }

  /** Those that are due by then, the earliest first. They stay. */
  dueBy(atMs: number): readonly End[] {
    const due: End[] = [];
    const look = (at: number): void => {
      const end = this.#heap[at];
      if (end === undefined || end.atMs > atMs) return;
      due.push(end);
      look(2 * at + 1);
      look(2 * at + 2);
    };
    look(0);
    return due.sort((a, b) => (before(a, b) ? -1 : 1));
  }

  /** The next one, if it is due by then. */
  takeUntil(atMs: number): End | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.atMs > atMs) return undefined;
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const rightGoes = right !== undefined && left !== undefined && before(right, left);
      const child = rightGoes ? right : left;
      if (child === undefined || before(last, child)) break;
      heap[at] = child;
      at = rightGoes ? 2 * at + 2 : 2 * at + 1;
    }
    heap[at] = last;
    return first;
  }
}

const before = (a: TimedEvent, b: TimedEvent): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.jobId < b.jobId);
