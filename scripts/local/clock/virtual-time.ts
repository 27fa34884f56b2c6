import type { Clock } from './clock.ts';

/**
 * Time that passes only when nothing else can happen: a modelled transaction of 7 ms costs no real time, and a run
 * gives the same figures on any machine. Promises and queued callbacks run in between as usual.
 */
export class VirtualTime implements Clock {
  readonly #startMs: number;
  #nowMs = 0;
  #order = 0;
  readonly #timers: Timer[] = [];

  /** @param startMs - what the wall clock shows when the monotonic one begins at 0. */
  constructor(startMs = 0) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = {
      atMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order,
      run,
    };
    this.#order += 1;
    push(this.#timers, timer);
    return () => {
      timer.run = undefined;
    };
  }

  /** Lets time pass until `done` settles. @throws {Error} if nothing is left that could settle it. */
  async run<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    done.then(mark, mark);
    await idle();
    while (!settled) {
      const next = pop(this.#timers);
      if (next === undefined) throw new Error('virtual time stands still: nothing is scheduled');
      if (next.run === undefined) continue;
      this.#nowMs = next.atMs;
      next.run();
      await idle();
    }
    return done;
  }
}

interface Timer {
  readonly atMs: number;
  /** First scheduled, first run. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** Every promise that can move has moved once the event loop comes round to its check phase. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const before = (a: Timer, b: Timer): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(heap: Timer[], timer: Timer): void {
  heap.push(timer);
  let index = heap.length - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!before(timer, heap[parent] as Timer)) break;
    heap[index] = heap[parent] as Timer;
    index = parent;
  }
  heap[index] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1] as Timer, heap[child] as Timer)) child += 1;
    if (!before(heap[child] as Timer, last)) break;
    heap[index] = heap[child] as Timer;
    index = child;
  }
  heap[index] = last;
  return first;
}
