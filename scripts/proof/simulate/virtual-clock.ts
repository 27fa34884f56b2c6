import type { LedgerClock } from '../../../functions/core/ledger/ledger.ts';

/** A month passes in this clock: it never runs by itself, and whoever sleeps moves it on at once. */
export class VirtualClock implements LedgerClock {
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  /** Whole ms, as every wall clock tells them. */
  nowMs(): number {
    return Math.floor(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number): Promise<void> {
    this.#nowMs += delayMs;
  }

  /** Never back: what was planned for an earlier moment happens now. */
  advanceTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }
}
