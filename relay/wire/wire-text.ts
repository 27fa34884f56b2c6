import type { BinaryReader } from '@bufbuild/protobuf/wire';
import type { ReadingBudget } from './reading-budget.ts';
import { CUT_OFF } from './skipper.ts';

/** A text that stays undecoded in the question's bytes until somebody looks: most variables are looked at by nobody. */
export class WireText {
  readonly sizeBytes: number;
  readonly #reader: BinaryReader;
  /** Where its length stands, and its bytes after it. */
  readonly #at: number;
  readonly #strict: boolean;
  readonly #budget: ReadingBudget;

  /** Takes up the text at which the reader stands, and steps over it. */
  constructor(reader: BinaryReader, strict: boolean, budget: ReadingBudget) {
    this.#reader = reader;
    this.#at = reader.pos;
    this.#strict = strict;
    this.#budget = budget;
    this.sizeBytes = reader.uint32();
    reader.pos += this.sizeBytes;
    if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
  }

  /** @throws {TypeError} when it is no UTF-8; {@link RangeError} when the question's budget is spent. */
  text(): string {
    this.#budget.takeText(this.sizeBytes);
    this.#reader.pos = this.#at;
    return this.#reader.string(this.#strict);
  }

  /** The bytes themselves, not a copy. */
  bytes(): Uint8Array {
    this.#reader.pos = this.#at;
    return this.#reader.bytes();
  }
}
