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
 * parts, lists packed and not, and fields that the schema does not have, groups too.
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
    return messageWire(message, depth + 1).map((write) => delimited(field.number, write));
  }
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

/** How to write a value of each type, from a whole number. */
const WHOLE: Readonly<Partial<Record<ScalarType, (writer: BinaryWriter, value: bigint) => unknown>>> = {
  [ScalarType.BOOL]: (writer, value) => writer.bool(value > 0n),
  [ScalarType.DOUBLE]: (writer, value) => writer.double(Number(value) / 3),
  [ScalarType.FLOAT]: (writer, value) => writer.float(Number(value % 100n) / 3),
  [ScalarType.INT32]: (writer, value) => writer.int32(Number(BigInt.asIntN(32, value))),
  [ScalarType.UINT32]: (writer, value) => writer.uint32(Number(BigInt.asUintN(32, value))),
  [ScalarType.SINT32]: (writer, value) => writer.sint32(Number(BigInt.asIntN(32, value))),
  [ScalarType.FIXED32]: (writer, value) => writer.fixed32(Number(BigInt.asUintN(32, value))),
  [ScalarType.SFIXED32]: (writer, value) => writer.sfixed32(Number(BigInt.asIntN(32, value))),
  [ScalarType.INT64]: (writer, value) => writer.int64(value),
  [ScalarType.UINT64]: (writer, value) => writer.uint64(BigInt.asUintN(64, value)),
  [ScalarType.SINT64]: (writer, value) => writer.sint64(value),
  [ScalarType.FIXED64]: (writer, value) => writer.fixed64(BigInt.asUintN(64, value)),
  [ScalarType.SFIXED64]: (writer, value) => writer.sfixed64(value),
};

function scalarWire(type: ScalarType): fc.Arbitrary<Write> {
  if (type === ScalarType.STRING)
    return text.map(
      (value): Write =>
        (writer) =>
          void writer.string(value),
    );
  const write = WHOLE[type];
  if (write !== undefined)
    return whole.map(
      (value): Write =>
        (writer) =>
          void write(writer, value),
    );
  return fc.uint8Array({ maxLength: 8 }).map(
    (value): Write =>
      (writer) =>
        void writer.bytes(value),
  );
}
