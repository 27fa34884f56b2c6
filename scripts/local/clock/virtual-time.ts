import type { Clock } from './clock.ts';

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * Time that passes only when nothing else can happen. A modelled transaction of 7 ms costs no real time, and a run gives
 * the same figures on any machine.
 */
export class VirtualTime implements Clock {
  readonly #startMs: number;
  #nowMs = 0;
  /** In the order they run; timers of one moment in the order they were set. */
  readonly #timers: Timer[] = [];

  /** @param startMs - the wall clock when the monotonic one is at 0. */
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
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, delayMs), run };
    const place = this.#timers.findLastIndex(({ atMs }) => atMs <= timer.atMs) + 1;
    this.#timers.splice(place, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  /** Lets time pass until `done` settles. @throws {Error} if nothing is scheduled that could settle it. */
  async run<T>(done: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    done.then(settle, settle);
    await idle();
    while (!isSettled) {
      const next = this.#timers.shift();
      if (next === undefined) throw new Error('virtual time stands still: nothing is scheduled');
      this.#nowMs = next.atMs;
      next.run();
      await idle();
    }
    return done;
  }
}

/** Resolves in the event loop's check phase, when every promise that can move has moved. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
