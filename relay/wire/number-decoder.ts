import { type DescEnum, type DescField, ScalarType } from '@bufbuild/protobuf';
import type { BinaryReader } from '@bufbuild/protobuf/wire';

/** Reads a number or a boolean at which the reader stands; undefined for one that says nothing. */
export type DecodeNumber = (reader: BinaryReader) => unknown;

/** For a single number, boolean or enum; nothing for any other field. */
export function numberDecoder(field: DescField): DecodeNumber | undefined {
  if (field.fieldKind === 'scalar') return BY_SCALAR[field.scalar];
  return field.fieldKind === 'enum' ? enumDecoder(field.enum) : undefined;
}

/** A closed enum's values are those the schema has; any other leaves the field as it was. */
function enumDecoder({ open, values }: DescEnum): DecodeNumber {
  if (open) return (reader) => reader.int32();
  const known = new Set(values.map((value) => value.number));
  return (reader) => {
    const value = reader.int32();
    return known.has(value) ? value : undefined;
  };
}

const BY_SCALAR: Readonly<Partial<Record<ScalarType, DecodeNumber>>> = {
  [ScalarType.BOOL]: (reader) => reader.bool(),
  [ScalarType.INT32]: (reader) => reader.int32(),
  [ScalarType.INT64]: (reader) => reader.int64(),
  [ScalarType.UINT32]: (reader) => reader.uint32(),
  [ScalarType.UINT64]: (reader) => reader.uint64(),
  [ScalarType.SINT32]: (reader) => reader.sint32(),
  [ScalarType.SINT64]: (reader) => reader.sint64(),
  [ScalarType.FIXED32]: (reader) => reader.fixed32(),
  [ScalarType.FIXED64]: (reader) => reader.fixed64(),
  [ScalarType.SFIXED32]: (reader) => reader.sfixed32(),
  [ScalarType.SFIXED64]: (reader) => reader.sfixed64(),
};
