import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Bounds of one question. Beyond any of these it is oversized. */
export interface ReadingBounds {
  /** Length of the whole message. */
  readonly bytes: number;
  /** Fields, including nested ones and those in groups. A field that is skipped by its length counts once. */
  readonly tags: number;
  /** Decoded variables and services. */
  readonly items: number;
  /** Bytes of all decoded texts. */
  readonly textBytes: number;
  /** CPU time of this thread, which does not count pauses of the machine. */
  readonly cpuMs: number;
}

/**
 * A job has some 150 predefined variables and those of users. GitLab counted 2018 in the largest project of gitlab.com and 997 in
 * the largest group, and allows 8000 per project (`project_ci_variables`). Each has at most seven tags: 9000 variables have 63 000
 * tags and some 300 KB of names. Few values are decoded, so they may be as large as the message allows.
 *
 * The counts keep a question to some milliseconds. The CPU time is for a machine that needs longer.
 *
 * @see https://gitlab.com/gitlab-org/gitlab/-/issues/362227 and its merge request 109861 for the figures
 */
export const READING_BOUNDS: ReadingBounds = {
  bytes: 4 * 1024 * 1024,
  tags: 65_536,
  items: 9_216,
  textBytes: 1024 * 1024,
  cpuMs: 15,
};

/** Reading the CPU time costs as much as some twenty tags. */
const TAGS_BETWEEN_CHECKS = 2_048;

type CpuMs = () => number;

export const threadCpuMs: CpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Counts what one question has taken. Every `take…` throws beyond a bound, and `spent` names it. */
export class ReadingBudget {
  readonly bounds: ReadingBounds;
  readonly #cpuMs: CpuMs;
  #tags = 0;
  #items = 0;
  #textBytes = 0;
  #nextCheck: number;
  #startedMs: number | undefined;
  #spent: string | undefined;

  constructor(bounds: ReadingBounds = READING_BOUNDS, cpuMs: CpuMs = threadCpuMs) {
    this.bounds = bounds;
    this.#cpuMs = cpuMs;
    this.#nextCheck = Math.min(TAGS_BETWEEN_CHECKS, bounds.tags + 1);
  }

  /** The exceeded bound, for the log. There are few distinct texts. */
  get spent(): string | undefined {
    return this.#spent;
  }

  get taken(): { readonly tags: number; readonly items: number; readonly textBytes: number } {
    return { tags: this.#tags, items: this.#items, textBytes: this.#textBytes };
  }

  takeTag(): void {
    this.#tags += 1;
    if (this.#tags >= this.#nextCheck) this.#check();
  }

  takeItem(): void {
    this.#items += 1;
    if (this.#items > this.bounds.items)
      this.#refuse(`more than ${this.bounds.items} variables and services`);
  }

  takeText(sizeBytes: number): void {
    this.#textBytes += sizeBytes;
    if (this.#textBytes > this.bounds.textBytes)
      this.#refuse(`more than ${this.bounds.textBytes} bytes of text to read`);
  }

  /** The clock starts at the first check. Most questions have fewer tags and never read it. */
  #check(): void {
    const { tags, cpuMs } = this.bounds;
    if (this.#tags > tags) this.#refuse(`more than ${tags} fields`);
    this.#nextCheck = Math.min(this.#nextCheck + TAGS_BETWEEN_CHECKS, tags + 1);
    const nowMs = this.#cpuMs();
    this.#startedMs ??= nowMs;
    if (nowMs - this.#startedMs > cpuMs) this.#refuse(`more than ${cpuMs} ms to read`);
  }

  #refuse(bound: string): never {
    this.#spent = bound;
    throw new RangeError(bound);
  }
}

/** The bound of protobuf-es. */
export const DEPTH_MAX = 100;
export const TOO_DEEP = `nested deeper than ${DEPTH_MAX} messages`;
export const CUT_OFF = 'cut off';
/** The longest varint. */
const VARINT_BYTES_MAX = 10;

/** Skips fields like `BinaryReader.skip`, but makes no object per field and counts fields in groups. */
export class Skipper {
  readonly #bytes: Uint8Array;
  readonly #reader: BinaryReader;
  readonly #budget: ReadingBudget;

  constructor(bytes: Uint8Array, reader: BinaryReader, budget: ReadingBudget) {
    this.#bytes = bytes;
    this.#reader = reader;
    this.#budget = budget;
  }

  /** Starts after the tag. @throws {RangeError} if the field is malformed or cut off. */
  skip(wireType: WireType, no: number, depth: number): void {
    const reader = this.#reader;
    switch (wireType) {
      case WireType.Varint:
        this.#varint();
        break;
      case WireType.Bit64:
        reader.pos += 8;
        break;
      case WireType.Bit32:
        reader.pos += 4;
        break;
      case WireType.LengthDelimited: {
        const length = reader.uint32();
        reader.pos += length;
        break;
      }
      case WireType.StartGroup:
        this.#group(no, depth);
        break;
      default:
        throw new RangeError('the end of a group that did not begin');
    }
    if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
  }

  #varint(): void {
    const reader = this.#reader;
    const last = reader.pos + VARINT_BYTES_MAX - 1;
    while ((this.#bytes[reader.pos] ?? 0) & 0x80) {
      if (reader.pos === last) throw new RangeError(`a varint of more than ${VARINT_BYTES_MAX} bytes`);
      reader.pos += 1;
    }
    reader.pos += 1;
  }

  #group(no: number, depth: number): void {
    if (depth >= DEPTH_MAX) throw new RangeError(TOO_DEEP);
    for (;;) {
      const [inner, wireType] = this.#reader.tag();
      this.#budget.takeTag();
      if (wireType !== WireType.EndGroup) this.skip(wireType, inner, depth + 1);
      else if (inner === no) return;
      else throw new RangeError('the end of another group');
    }
  }
}

/** A text that is decoded on demand, because most variables are never read. */
export class WireText {
  readonly sizeBytes: number;
  readonly #reader: BinaryReader;
  /** The position of its length, which its bytes follow. */
  readonly #at: number;
  readonly #strict: boolean;
  readonly #budget: ReadingBudget;

  /** Notes the text at the reader's position and skips it. */
  constructor(reader: BinaryReader, strict: boolean, budget: ReadingBudget) {
    this.#reader = reader;
    this.#at = reader.pos;
    this.#strict = strict;
    this.#budget = budget;
    this.sizeBytes = reader.uint32();
    reader.pos += this.sizeBytes;
    if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
  }

  /** @throws {TypeError} if it is not UTF-8. @throws {RangeError} if the question's budget is spent. */
  text(): string {
    this.#budget.takeText(this.sizeBytes);
    this.#reader.pos = this.#at;
    return this.#reader.string(this.#strict);
  }

  /** Returns the bytes without a copy. */
  bytes(): Uint8Array {
    this.#reader.pos = this.#at;
    return this.#reader.bytes();
  }
}
