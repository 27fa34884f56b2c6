import { type LedgerClock, systemClock } from '../../functions/core/environment/environment.ts';
import type { RelayClock } from '../../relay/exchange.ts';

export interface Clock extends LedgerClock, RelayClock {}

export type WallClock = Pick<Clock, 'nowMs' | 'after'>;

export type RouterClock = Pick<Clock, 'monotonicMs' | 'after'>;

export const machineClock: Clock = {
  ...systemClock,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

export function stoppable(clock: WallClock): WallClock & { stop(): void } {
  const pending = new Set<() => void>();
  return {
    nowMs: () => clock.nowMs(),
    after(delayMs, run) {
      const cancelTimer = clock.after(delayMs, () => {
        pending.delete(cancel);
        run();
      });
      const cancel = (): void => {
        pending.delete(cancel);
        cancelTimer();
      };
      pending.add(cancel);
      return cancel;
    },
    stop() {
      for (const cancel of [...pending]) cancel();
    },
  };
}

/** A minute of a job takes a tenth of a second, so that a whole run is short. */
export const SPEED = 600;

export interface FastClock extends Clock {
  /** From now on a minute takes a minute. Pending timers keep their time. */
  slowDown(): void;
}

/**
 * Makes the time of day go faster, from `beginsMs` on. Jobs, holds and periods use it, so charged durations are right.
 * Deadlines and pauses between retries stay real.
 */
export function fastClock(speed = SPEED, beginsMs = Date.now()): FastClock {
  let pace = speed;
  let startMs = beginsMs;
  let startedMs = performance.now();
  const now = (): number => startMs + (performance.now() - startedMs) * pace;
  return {
    ...machineClock,
    nowMs: () => Math.round(now()),
    slowDown() {
      [startMs, startedMs] = [now(), performance.now()];
      pace = 1;
    },
    after: (delayMs, run) => machineClock.after(delayMs / pace, run),
  };
}

/**
 * Time that passes only when nothing else can happen. A modelled transaction of 7 ms costs no real time, and a run gives
 * the same figures on any machine.
 */
export class VirtualTime implements Clock {
  readonly #startMs: number;
  #nowMs = 0;
  readonly #timers: { readonly atMs: number; readonly run: () => void }[] = [];

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
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), run };
    const place = this.#timers.findLastIndex(({ atMs }) => atMs <= timer.atMs) + 1;
    this.#timers.splice(place, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** Lets this time pass, and runs the timers that are due by then. Less than nothing sets the clock back. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    while (ms >= 0 && (this.#timers[0]?.atMs ?? Number.POSITIVE_INFINITY) <= endMs) this.#runNext();
    this.#nowMs = ms < 0 ? endMs : Math.max(this.#nowMs, endMs);
  }

  #runNext(): void {
    const next = this.#timers.shift();
    if (next === undefined) throw new Error('virtual time stands still: nothing is scheduled');
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.run();
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
      this.#runNext();
      await idle();
    }
    return done;
  }
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export type HandClock = ReturnType<typeof handClock>;

/** A clock that only its owner moves; sleeping moves it as well. */
export function handClock(startMs = 0) {
  const time = new VirtualTime(startMs);
  return {
    get timers() {
      return time.timers;
    },
    nowMs: () => Math.floor(time.nowMs()),
    monotonicMs: () => time.monotonicMs(),
    sleep: async (delayMs: number) => time.advance(delayMs),
    after: (delayMs: number, run: () => void) => time.after(delayMs, run),
    advance: (ms: number) => time.advance(ms),
    advanceTo: (atMs: number) => time.advance(Math.max(0, atMs - time.nowMs())),
  } satisfies Clock & Readonly<Record<string, unknown>>;
}
