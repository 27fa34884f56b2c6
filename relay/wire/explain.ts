/**
 * Reads tags only: which bytes of a message the schema knows, which it does not, and which contradict it. Strings and
 * numbers are skipped over, so this costs little beside decoding and shows nothing of what is inside.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export interface Explanation {
  /** Fields without a name in the schema, once each: `job_info.21:varint`. At most {@link FIELDS_MAX}. */
  readonly unknown: readonly string[];
  /** Fields that arrive in another form than the schema says: `id (1) is bytes, the schema says varint`. */
  readonly contradicted: readonly string[];
  /** Bytes of known fields, tags included, and of all. */
  readonly knownBytes: number;
  readonly totalBytes: number;
}

/** A question from a router of another version has a handful; thousands would be an attack on our log. */
export const FIELDS_MAX = 32;
/** As deep as the decoder goes. */
const DEPTH_MAX = 100;

interface KnownField {
  readonly name: string;
  readonly wireType: WireType;
  /** Lists of numbers come one by one or packed, whatever the schema prefers. */
  readonly mayBePacked: boolean;
  readonly message: DescMessage | undefined;
}

/** @throws when the bytes are no protobuf message at all (cut off, bad tag, too deep). */
export function explain(desc: DescMessage, bytes: Uint8Array): Explanation {
  const found = { unknown: new Set<string>(), contradicted: new Set<string>(), unknownBytes: 0 };
  walk(desc, new BinaryReader(bytes), bytes.length, '', 0, found);
  return {
    unknown: [...found.unknown],
    contradicted: [...found.contradicted],
    knownBytes: bytes.length - found.unknownBytes,
    totalBytes: bytes.length,
  };
}

interface Found {
  readonly unknown: Set<string>;
  readonly contradicted: Set<string>;
  unknownBytes: number;
}

function walk(
  desc: DescMessage,
  reader: BinaryReader,
  end: number,
  path: string,
  depth: number,
  found: Found,
): void {
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} messages`);
  const fields = knownFields(desc);
  while (reader.pos < end) {
    const from = reader.pos;
    const [no, wireType] = reader.tag();
    const field = fields.get(no);
    if (field === undefined || !fits(field, wireType)) {
      reader.skip(wireType, no, DEPTH_MAX - depth);
      found.unknownBytes += reader.pos - from;
      if (field === undefined) note(found.unknown, `${path}${no}:${WIRE_NAMES[wireType] ?? wireType}`);
      else note(found.contradicted, contradiction(path, field, no, wireType));
    } else if (field.message !== undefined && wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      if (reader.pos + length > end)
        throw new RangeError(`${path}${field.name} is longer than what holds it`);
      walk(field.message, reader, reader.pos + length, `${path}${field.name}.`, depth + 1, found);
    } else {
      reader.skip(wireType, no, DEPTH_MAX - depth);
    }
    if (reader.pos > end) throw new RangeError(`${path}${no} is longer than what holds it`);
  }
}

const fits = (field: KnownField, wireType: WireType): boolean =>
  wireType === field.wireType || (field.mayBePacked && wireType === WireType.LengthDelimited);

const contradiction = (path: string, field: KnownField, no: number, wireType: WireType): string =>
  `${path}${field.name} (${no}) is ${WIRE_NAMES[wireType] ?? wireType}, the schema says ${WIRE_NAMES[field.wireType]}`;

function note(fields: Set<string>, field: string): void {
  if (fields.size < FIELDS_MAX) fields.add(field);
}

const WIRE_NAMES: Readonly<Record<number, string>> = {
  [WireType.Varint]: 'varint',
  [WireType.Bit64]: 'fixed64',
  [WireType.LengthDelimited]: 'bytes',
  [WireType.StartGroup]: 'group',
  [WireType.Bit32]: 'fixed32',
};

const cache = new WeakMap<DescMessage, ReadonlyMap<number, KnownField>>();

function knownFields(desc: DescMessage): ReadonlyMap<number, KnownField> {
  let fields = cache.get(desc);
  if (fields === undefined) {
    fields = new Map(desc.fields.map((field) => [field.number, knownField(field)]));
    cache.set(desc, fields);
  }
  return fields;
}

function knownField(field: DescField): KnownField {
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
    name: field.name,
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
