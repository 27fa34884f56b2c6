import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { WIRE_NAMES, wireFormOf } from '../../../relay/wire/plan.ts';

/** Writes one field, or several. */
type Write = (writer: BinaryWriter) => void;

const DEPTH_MAX = 4;
const FIELDS_MAX = 10;

/** Texts that mean something to translation stand beside any others, so that they meet in names, values and images. */
const text = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.oneof(
      fc.constantFrom('CI_PROJECT_ID', 'CI_PROJECT_PATH', 'CI_JOB_NAME', 'CI_RUNNER_TAGS', 'CI_JOB_IMAGE'),
      fc.constantFrom('COST_CENTER', 'TEAM_A', 'TEAM_TOKEN', '__proto__', 'constructor'),
      fc.constantFrom('KUBERNETES_CPU_LIMIT', 'KUBERNETES_BEARER_TOKEN', 'KUBERNETES_NAMESPACE_OVERWRITE'),
      fc.constantFrom('KUBERNETES_POD_LABELS_1', '', '42', '7', 'a, b', '["a"]', '$CI_JOB_NAME'),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: GitLab's own way to write a variable
      fc.constantFrom('x/$COST_CENTER:${TEAM_A}', `${'x'.repeat(1_022)}😀`),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(1_025), 'é'.repeat(1_025), '…'.repeat(1_024)) },
);
const whole = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(0n, 1n, 7n, 42n) },
  { weight: 1, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
);

/**
 * Bytes that any protobuf writer may send for this message: fields in any order and as often as they like, messages in
 * parts, lists packed and not, groups, and fields that the schema does not have.
 */
export const legalWire = (desc: DescMessage): fc.Arbitrary<Uint8Array> => messageWire(desc, 0).map(finish);

function finish(write: Write): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

function messageWire(desc: DescMessage, depth: number): fc.Arbitrary<Write> {
  const fields = desc.fields.flatMap((field) => fieldWire(field, depth) ?? []);
  const one = fc.oneof(
    { weight: 9, arbitrary: fc.oneof(...fields) },
    { weight: 1, arbitrary: unknownWire(desc) },
  );
  return fc
    .array(fields.length === 0 ? unknownWire(desc) : one, { maxLength: FIELDS_MAX })
    .map((writes) => (writer) => {
      for (const write of writes) write(writer);
    });
}

function fieldWire(field: DescField, depth: number): fc.Arbitrary<Write> | undefined {
  const { wireType, mayBePacked, message } = wireFormOf(field);
  if (message !== undefined) {
    if (depth >= DEPTH_MAX) return undefined;
    const tagged = (write: Write): Write =>
      wireType === WireType.StartGroup ? group(field.number, write) : delimited(field.number, write);
    return messageWire(message, depth + 1).map(tagged);
  }
  if (field.fieldKind === 'map') return fc.constant(delimited(field.number, () => {}));
  const scalar =
    field.fieldKind === 'enum' || (field.fieldKind === 'list' && field.listKind === 'enum')
      ? ScalarType.INT32
      : (field.scalar ?? ScalarType.BYTES);
  const value = scalarWire(scalar);
  const single = value.map(
    (write): Write =>
      (writer) => {
        writer.tag(field.number, wireType);
        write(writer);
      },
  );
  if (!mayBePacked) return single;
  const packed = fc.array(value, { maxLength: 4 }).map((writes) =>
    delimited(field.number, (writer) => {
      for (const write of writes) write(writer);
    }),
  );
  return fc.oneof(single, packed);
}

const delimited =
  (number: number, write: Write): Write =>
  (writer) => {
    writer.tag(number, WireType.LengthDelimited).fork();
    write(writer);
    writer.join();
  };

const group =
  (number: number, write: Write): Write =>
  (writer) => {
    writer.tag(number, WireType.StartGroup);
    write(writer);
    writer.tag(number, WireType.EndGroup);
  };

/** A field of any form, under a number that the message does not have. */
function unknownWire(desc: DescMessage): fc.Arbitrary<Write> {
  const taken = new Set(desc.fields.map((field) => field.number));
  const number = fc.integer({ min: 1, max: 5_000 }).filter((no) => !taken.has(no));
  const form = fc.constantFrom(...Object.keys(WIRE_NAMES).map(Number));
  return fc.tuple(number, form, fc.uint8Array({ maxLength: 8 })).map(([no, wireType, bytes]) =>
    wireType === WireType.StartGroup
      ? group(
          no,
          delimited(no, (writer) => writer.raw(bytes)),
        )
      : (writer) => {
          writer.tag(no, wireType);
          if (wireType === WireType.Varint) writer.uint64(BigInt(bytes.length) * 2n ** 60n);
          else if (wireType === WireType.Bit64) writer.fixed64(7n);
          else if (wireType === WireType.Bit32) writer.fixed32(7);
          else writer.bytes(bytes);
        },
  );
}

function scalarWire(type: ScalarType): fc.Arbitrary<Write> {
  const wholeAs = (bits: number, signed: boolean, write: (writer: BinaryWriter, value: bigint) => void) =>
    whole.map((value): Write => {
      const fitting = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
      return (writer) => write(writer, fitting);
    });
  switch (type) {
    case ScalarType.STRING:
      return text.map(
        (value): Write =>
          (writer) =>
            writer.string(value),
      );
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 }).map(
        (value): Write =>
          (writer) =>
            writer.bytes(value),
      );
    case ScalarType.BOOL:
      return fc.boolean().map(
        (value): Write =>
          (writer) =>
            writer.bool(value),
      );
    case ScalarType.DOUBLE:
      return fc.double().map(
        (value): Write =>
          (writer) =>
            writer.double(value),
      );
    case ScalarType.FLOAT:
      return fc.float().map(
        (value): Write =>
          (writer) =>
            writer.float(value),
      );
    case ScalarType.INT32:
      return wholeAs(32, true, (writer, value) => writer.int32(Number(value)));
    case ScalarType.UINT32:
      return wholeAs(32, false, (writer, value) => writer.uint32(Number(value)));
    case ScalarType.SINT32:
      return wholeAs(32, true, (writer, value) => writer.sint32(Number(value)));
    case ScalarType.FIXED32:
      return wholeAs(32, false, (writer, value) => writer.fixed32(Number(value)));
    case ScalarType.SFIXED32:
      return wholeAs(32, true, (writer, value) => writer.sfixed32(Number(value)));
    case ScalarType.INT64:
      return wholeAs(64, true, (writer, value) => writer.int64(value));
    case ScalarType.UINT64:
      return wholeAs(64, false, (writer, value) => writer.uint64(value));
    case ScalarType.SINT64:
      return wholeAs(64, true, (writer, value) => writer.sint64(value));
    case ScalarType.FIXED64:
      return wholeAs(64, false, (writer, value) => writer.fixed64(value));
    case ScalarType.SFIXED64:
      return wholeAs(64, true, (writer, value) => writer.sfixed64(value));
  }
}
