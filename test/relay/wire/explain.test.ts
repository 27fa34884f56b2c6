import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect, test } from 'vitest';
import { explain } from '../../../relay/wire/inspect.ts';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';
import { ODD_SCHEMAS } from '../../support/relay/odd-schemas.ts';

const { question } = loadSchema();
const bytes = encodeKnown(question, { id: 42n, image: { name: 'node:24' } });

test('the share of known bytes counts unknown fields with their tags', () => {
  const unknown = new BinaryWriter().tag(999, WireType.LengthDelimited).string('x'.repeat(20)).finish();
  const explanation = explain(question, Buffer.concat([bytes, unknown]));
  expect(explanation.totalBytes - explanation.knownBytes).toBe(unknown.length);
});

test('parts that translation does not read are looked into, as deep as they go, and groups too', () => {
  const { proto2, proto3 } = ODD_SCHEMAS;
  if (proto2 === undefined || proto3 === undefined) throw new Error('no such schema');
  // tree.child.child with a field that trees do not have, and one in another form.
  const tree = Uint8Array.from([0xf2, 1, 8, 0x0a, 6, 0x0a, 4, 0x38, 1, 0x10, 1]);
  expect(explain(proto3, tree)).toMatchObject({
    unknown: ['tree.child.child.7:varint'],
    contradicted: ['tree.child.child.name (2) is varint, the schema says bytes'],
  });
  const group = Uint8Array.from([0x13, 0x48, 1, 0x14]);
  expect(explain(proto2, group)).toMatchObject({ unknown: ['job_info.9:varint'], contradicted: [] });
});

test('what is more than a question may hold is not explained either', () => {
  expect(() => explain(question, new Uint8Array(140_000).fill(8))).toThrow('more than 65536 fields');
});
