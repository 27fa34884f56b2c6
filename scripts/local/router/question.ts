import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';

/**
 * A job as the router would describe it: a plain object in the message's own field names (snake_case), nested like
 * the message. Numbers may stand for int64.
 */
export type JobQuestion = Readonly<Record<string, unknown>>;

/**
 * Builds an encoder for a message. In strict mode a key that the schema does not have is an error that names its
 * path; otherwise it is left out, as an older GitLab would.
 *
 * Writes straight to the wire, compiled once per message: building protobuf-es messages first costs three times as
 * much, and a bench asks thousands of questions a second.
 */
export function questionEncoder(desc: DescMessage, strict: boolean): (job: JobQuestion) => Uint8Array {
  const write = messageWriter(desc, strict, desc.typeName, new Map());
  return (job) => {
    const writer = new BinaryWriter();
    write(writer, job);
    return writer.finish();
  };
}

type WriteMessage = (writer: BinaryWriter, message: JobQuestion) => void;
type WriteField = (writer: BinaryWriter, value: unknown) => void;

function messageWriter(
  desc: DescMessage,
  strict: boolean,
  path: string,
  known: Map<DescMessage, WriteMessage>,
): WriteMessage {
  const earlier = known.get(desc);
  if (earlier !== undefined) return earlier;
  const fields = new Map<string, WriteField>();
  const write: WriteMessage = (writer, message) => {
    for (const key of Object.keys(message)) {
      const value = message[key];
      if (value === undefined) continue;
      const field = fields.get(key);
      if (field !== undefined) field(writer, value);
      else if (strict)
        throw new Error(`${path}.${key} is not in the schema; remove the key or load the schema that has it`);
    }
  };
  // Before the fields, because a message may contain itself.
  known.set(desc, write);
  for (const field of desc.fields)
    fields.set(field.name, fieldWriter(field, strict, `${path}.${field.name}`, known));
  return write;
}

function fieldWriter(
  field: DescField,
  strict: boolean,
  path: string,
  known: Map<DescMessage, WriteMessage>,
): WriteField {
  switch (field.fieldKind) {
    case 'scalar':
      return present(field, scalarField(field.number, field.scalar, path));
    case 'enum':
      return present(field, scalarField(field.number, ScalarType.INT32, path));
    case 'message':
      return messageField(field.number, field.message, strict, path, known);
    case 'list': {
      const item =
        field.listKind === 'message'
          ? messageField(field.number, field.message, strict, `${path}[]`, known)
          : // Unpacked: every reader must take both forms.
            scalarField(
              field.number,
              field.listKind === 'enum' ? ScalarType.INT32 : field.scalar,
              `${path}[]`,
            );
      return (writer, value) => {
        if (!Array.isArray(value)) throw new Error(`${path} must be a list, got ${typeof value}`);
        for (const one of value) item(writer, one);
      };
    }
    case 'map':
      return () => {
        throw new Error(`${path} is a map; the local router cannot send maps`);
      };
  }
}

function messageField(
  number: number,
  desc: DescMessage,
  strict: boolean,
  path: string,
  known: Map<DescMessage, WriteMessage>,
): WriteField {
  const write = messageWriter(desc, strict, path, known);
  return (writer, value) => {
    if (!isRecord(value))
      throw new Error(`${path} must be an object, got ${value === null ? 'null' : typeof value}`);
    writer.tag(number, WireType.LengthDelimited).fork();
    write(writer, value);
    writer.join();
  };
}

/** Like every proto3 writer, sends a zero value only where the schema can tell it from an absent one. */
function present(field: DescField, write: WriteField): WriteField {
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) return write;
  return (writer, value) => {
    if (value !== 0 && value !== 0n && value !== '' && value !== false) write(writer, value);
  };
}

function scalarField(number: number, type: ScalarType, path: string): WriteField {
  const refuse = (value: unknown): never => {
    throw new Error(`${path} must be a ${ScalarType[type]}, got ${typeof value}`);
  };
  switch (type) {
    case ScalarType.STRING:
      return (writer, value) =>
        typeof value === 'string'
          ? writer.tag(number, WireType.LengthDelimited).string(value)
          : refuse(value);
    case ScalarType.BOOL:
      return (writer, value) =>
        typeof value === 'boolean' ? writer.tag(number, WireType.Varint).bool(value) : refuse(value);
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return (writer, value) =>
        isWhole(value) ? writer.tag(number, WireType.Varint).int64(value) : refuse(value);
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return (writer, value) =>
        isWhole(value) ? writer.tag(number, WireType.Varint).int32(Number(value)) : refuse(value);
    case ScalarType.DOUBLE:
      return (writer, value) =>
        typeof value === 'number' ? writer.tag(number, WireType.Bit64).double(value) : refuse(value);
    case ScalarType.FLOAT:
      return (writer, value) =>
        typeof value === 'number' ? writer.tag(number, WireType.Bit32).float(value) : refuse(value);
    case ScalarType.BYTES:
      return (writer, value) =>
        value instanceof Uint8Array
          ? writer.tag(number, WireType.LengthDelimited).bytes(value)
          : refuse(value);
    default:
      return () => {
        throw new Error(`${path} is a ${ScalarType[type]}; the local router cannot send that type`);
      };
  }
}

const isWhole = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));

const isRecord = (value: unknown): value is JobQuestion =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
