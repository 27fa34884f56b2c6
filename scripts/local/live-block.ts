/** What of a stream is needed; a test passes less than a terminal is. */
interface Terminal {
  write(text: string): unknown;
}

/** Lines at the bottom of a terminal that change, below those that stay. */
export class LiveBlock {
  readonly #out: Terminal;
  #lines: readonly string[] = [];

  constructor(out: Terminal) {
    this.#out = out;
  }

  /** A line that stays. */
  say(line: string): void {
    this.#out.write(`${this.#erased()}${line}\n${this.#drawn()}`);
  }

  /** Replaces the lines at the bottom; with none it is gone. */
  show(lines: readonly string[]): void {
    const erased = this.#erased();
    this.#lines = lines;
    this.#out.write(`${erased}${this.#drawn()}`);
  }

  /** From the first of them, to the end of the screen. */
  #erased(): string {
    return this.#lines.length === 0 ? '' : `\u001b[${this.#lines.length}F\u001b[J`;
  }

  #drawn(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }
}
