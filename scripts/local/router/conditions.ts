export interface AwaitedCondition {
  /** Names the condition in the error. */
  readonly what?: string;
  /** Real time, so that a hanging test fails with a reason. @default 120_000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;

/** Waits for conditions without sleeping: every change calls `look`. */
export class ConditionWaiters {
  readonly #pending = new Set<() => void>();

  look(): void {
    for (const check of this.#pending) check();
  }

  until(holds: () => boolean, condition: AwaitedCondition = {}): Promise<void> {
    if (holds()) return Promise.resolve();
    const { what = 'the condition', timeoutMs = TIMEOUT_MS } = condition;
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!holds()) return;
        this.#pending.delete(check);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#pending.delete(check);
        reject(new Error(`waited ${timeoutMs} ms for ${what}`));
      }, timeoutMs);
      this.#pending.add(check);
    });
  }
}
