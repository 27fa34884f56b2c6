import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { ReadingBudget } from './reading-budget.ts';

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
