import type { RelayClock } from '../exchange.ts';

/** Timers by what they are for: setting one again replaces it, and all can be stopped together. */
export class Timers<Name extends string> {
  readonly #clock: RelayClock;
  readonly #cancels = new Map<Name, () => void>();

  constructor(clock: RelayClock) {
    this.#clock = clock;
  }

  has(name: Name): boolean {
    return this.#cancels.has(name);
  }

  after(name: Name, delayMs: number, run: () => void): void {
    this.cancel(name);
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }

  every(name: Name, periodMs: number, run: () => void): void {
    this.after(name, periodMs, () => {
      this.every(name, periodMs, run);
      run();
    });
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }
}
