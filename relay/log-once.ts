/** How long one line stands for all that are like it. */
export const ONCE_MS = 60_000;
/** Different problems within a minute; beyond, they share one line. */
const KINDS_MAX = 100;
/** The line they share: it has its place whatever the others do, else a flood would silence it. */
const OTHERS = 'others';

/** Says of repeated trouble whether to write it now, and how often it was left out since the last line. */
export class LogOnce {
  readonly #monotonicMs: () => number;
  readonly #kinds = new Map<string, { quietUntilMs: number; suppressed: number }>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The number of lines left out before this one; nothing if this one is to be left out too. */
  due(kind: string): number | undefined {
    const nowMs = this.#monotonicMs();
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs < known.quietUntilMs) {
      known.suppressed += 1;
      return undefined;
    }
    if (known === undefined && kind !== OTHERS) {
      if (this.#kinds.size >= KINDS_MAX) this.#forgetQuiet(nowMs);
      if (this.#kinds.size >= KINDS_MAX) return this.due(OTHERS);
    }
    this.#kinds.set(kind, { quietUntilMs: nowMs + ONCE_MS, suppressed: 0 });
    return known?.suppressed ?? 0;
  }

  #forgetQuiet(nowMs: number): void {
    for (const [kind, { quietUntilMs }] of this.#kinds)
      if (quietUntilMs <= nowMs && kind !== OTHERS) this.#kinds.delete(kind);
  }
}
