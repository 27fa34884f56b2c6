/** GitLab Runner's numbers since 19.2. */
const FAILURES_MIN = 3;
/** A dropped connection fails many calls together, which alone is not an outage. */
const FAILING_MS_MIN = 5_000;
/** After this time one call tries the router again. */
const OPEN_MS = 30_000;

type BreakerPhase = 'closed' | 'open' | 'half_open';

/** Opens after repeated failures: the runner then requests jobs from GitLab, past every controller. */
export class RouterBreaker {
  readonly #monotonicMs: () => number;
  #phase: BreakerPhase = 'closed';
  #failures = 0;
  #failingSinceMs = 0;
  #openedAtMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get phase(): BreakerPhase {
    return this.#phase;
  }

  /** Returns true if the router may be called now. The trial of an open breaker must be followed by its outcome. */
  allows(): boolean {
    if (this.#phase === 'open' && this.#monotonicMs() - this.#openedAtMs >= OPEN_MS) {
      this.#phase = 'half_open';
      return true;
    }
    return this.#phase === 'closed';
  }

  succeeded(): void {
    this.#failures = 0;
    this.#phase = 'closed';
  }

  /** @returns true if this failure opened it. */
  failed(): boolean {
    if (this.#phase === 'open') return false;
    const nowMs = this.#monotonicMs();
    if (this.#failures === 0) this.#failingSinceMs = nowMs;
    this.#failures += 1;
    const lasts = this.#failures >= FAILURES_MIN && nowMs - this.#failingSinceMs >= FAILING_MS_MIN;
    if (this.#phase === 'closed' && !lasts) return false;
    this.#phase = 'open';
    this.#openedAtMs = nowMs;
    return true;
  }
}
