/** The time that one or several calls may take together; it begins with the first that waits for somebody else. */
export class TimeLimit {
  readonly #timeoutMs: number;
  #signal: AbortSignal | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(Math.ceil(this.#timeoutMs));
    return this.#signal;
  }
}
