/** When the jobs of a line are asked about again. */
import type { Place } from './fair-order.ts';

/** Between two rounds of a line of which nobody was admitted; it doubles. */
const ROUND_MS_MIN = 250;
const ROUND_MS_MAX = 2_000;

interface LineRound {
  readonly pauseMs: number;
  readonly nextMs: number;
  /** What was last told to be left of its counter. Absent: nothing, or nothing since somebody was admitted. */
  readonly left?: number;
}

/** By counter for which jobs wait: the next round, and how long the pause after it is. All times are monotonic. */
export class LineRounds {
  readonly #lines = new Map<string, LineRound>();

  /** When a job that stands in all of these may be asked about. */
  nextMs(counters: readonly string[]): number {
    return Math.max(...counters.map((name) => this.#lines.get(name)?.nextMs ?? 0));
  }

  /** Somebody who has just been asked about joins them. A line that is there already keeps its own pace. */
  begin(counters: readonly string[], nowMs: number): void {
    this.stood(
      counters.filter((name) => !this.#lines.has(name)),
      nowMs,
    );
  }

  /** Somebody of these lines was admitted: the next are asked about at once. */
  moved(counters: readonly string[], nowMs: number): void {
    for (const name of counters) this.#lines.set(name, { pauseMs: ROUND_MS_MIN, nextMs: nowMs });
  }

  /** Nobody was: the next round comes after a longer pause than this one. */
  stood(counters: readonly string[], nowMs: number): void {
    for (const name of counters) {
      const line: LineRound = this.#lines.get(name) ?? { pauseMs: ROUND_MS_MIN, nextMs: nowMs };
      const { pauseMs, nextMs } = line;
      if (nextMs > nowMs) continue;
      const next = { pauseMs: Math.min(ROUND_MS_MAX, pauseMs * 2), nextMs: nowMs + pauseMs };
      this.#lines.set(name, { ...line, ...next });
    }
  }

  /**
   * Somebody's answer told what is left of a counter. Where that is more than was told before, the pause of its line is over:
   * one round for each room that comes free, so that room which fits nobody who waits is no reason to ask on.
   *
   * @returns whether the next round comes sooner for it.
   */
  told(name: string, left: number, nowMs: number): boolean {
    const line = this.#lines.get(name);
    if (line === undefined) return false;
    const isSooner = left > (line.left ?? 0) && line.nextMs > nowMs;
    this.#lines.set(name, { ...line, left, ...(isSooner && { nextMs: nowMs }) });
    return isSooner;
  }

  /** @param places - of those that still wait: the pace of a line without any is of no use. */
  forget(counters: readonly string[], places: readonly Place[]): void {
    for (const name of counters)
      if (!places.some((other) => other.counters.includes(name))) this.#lines.delete(name);
  }
}
