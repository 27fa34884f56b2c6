import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** How much of the relay one question may take. Past any of these it is oversized, whatever the rest of it holds. */
export interface ReadingBounds {
  /** Length of the whole message. */
  readonly bytes: number;
  /** Fields looked at, nested ones and those in groups included. What is skipped by its length counts once. */
  readonly tags: number;
  /** Variables and services taken up. */
  readonly items: number;
  /** Bytes of all texts that are decoded. */
  readonly textBytes: number;
  /** CPU time of this thread, so that a pause of the machine is not held against a question. */
  readonly cpuMs: number;
}

/**
 * A job has some 150 predefined variables and those that people set: when GitLab counted, the fullest project of gitlab.com
 * had 2018 and the fullest group 997; a project may have 8000 (`project_ci_variables`). Each is one tag with six more within
 * at most: 9000 of them are 63 000 tags, and their names, most of what is decoded, some 300 KB. Their values may be as large
 * as the message allows, because few are decoded.
 *
 * The counts alone keep a question to some milliseconds; the time is for a machine on which they do not.
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

/** Asking for the time costs as much as some twenty tags. */
const TAGS_BETWEEN_CHECKS = 2_048;

type CpuMs = () => number;

/** CPU time that this thread has used. */
export const threadCpuMs: CpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** What one question has taken so far. Every `take…` throws once a bound is passed, and `spent` says which. */
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

  /** Which bound was passed, for the log; few distinct texts. */
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

  /** The clock starts at the first check: most questions have fewer tags and never ask for the time. */
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

/** As deep as protobuf-es goes. */
export const DEPTH_MAX = 100;
export const TOO_DEEP = `nested deeper than ${DEPTH_MAX} messages`;
export const CUT_OFF = 'cut off';
/** No varint has more bytes. */
const VARINT_BYTES_MAX = 10;

/**
 * Steps over fields as `BinaryReader.skip` does, without an object for each of a million of them, and with those in groups
 * counted.
 */
export class Skipper {
  readonly #bytes: Uint8Array;
  readonly #reader: BinaryReader;
  readonly #budget: ReadingBudget;

  constructor(bytes: Uint8Array, reader: BinaryReader, budget: ReadingBudget) {
    this.#bytes = bytes;
    this.#reader = reader;
    this.#budget = budget;
  }

  /** The reader stands behind the tag. @throws {RangeError} when what it skips is no field or is cut off. */
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
