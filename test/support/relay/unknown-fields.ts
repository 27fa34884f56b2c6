import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Far above any number in use, below protobuf's own limit of 2^29. */
const UNKNOWN_FIELD = 50_000;

/** A field no schema explains: `payload` under a high field number. For unknown and oversized fields. */
export function unknownFields(payload: Uint8Array, fieldNumber = UNKNOWN_FIELD): Uint8Array {
  return new BinaryWriter().tag(fieldNumber, WireType.LengthDelimited).bytes(payload).finish();
}
