import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';

/** How a field of the schema looks on the wire. */
export interface WireForm {
  readonly wireType: WireType;
  /** Lists of numbers come one by one or packed, whatever the schema prefers. */
  readonly mayBePacked: boolean;
  /** The message it holds, singly or in a list; a map's entries are none. */
  readonly message: DescMessage | undefined;
}

export const WIRE_NAMES: Readonly<Record<number, string>> = {
  [WireType.Varint]: 'varint',
  [WireType.Bit64]: 'fixed64',
  [WireType.LengthDelimited]: 'bytes',
  [WireType.StartGroup]: 'group',
  [WireType.Bit32]: 'fixed32',
};

export function wireFormOf(field: DescField): WireForm {
  const single = field.fieldKind === 'list' ? field.listKind : field.fieldKind;
  const wireType =
    single === 'message' || single === 'map'
      ? 'delimitedEncoding' in field && field.delimitedEncoding
        ? WireType.StartGroup
        : WireType.LengthDelimited
      : single === 'enum'
        ? WireType.Varint
        : wireTypeOf(field.scalar ?? ScalarType.BYTES);
  return {
    wireType,
    mayBePacked: field.fieldKind === 'list' && wireType !== WireType.LengthDelimited && single !== 'message',
    message: single === 'message' ? (field.message ?? undefined) : undefined,
  };
}

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
