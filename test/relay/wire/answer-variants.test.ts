import { readFileSync } from 'node:fs';
import { clone, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { descriptorsHash, loadSchema, PLACEHOLDER_HASH, parseSchema } from '../../../relay/wire/schema.ts';
import { schemaVariant } from '../../../scripts/local/router/schemas.ts';
import { renamedAndRenumbered } from '../../support/relay/schema-variants.ts';

const DESCRIPTORS = readFileSync(new URL('../../../relay/wire/default.binpb', import.meta.url));

/** Our descriptors with a change to one message. */
function changed(message: string, change: (desc: DescriptorProto) => void): Uint8Array {
  const set = clone(FileDescriptorSetSchema, fromBinary(FileDescriptorSetSchema, DESCRIPTORS));
  for (const file of set.file) for (const each of file.messageType) if (each.name === message) change(each);
  return toBinary(FileDescriptorSetSchema, set);
}

const reasonOf = (type: FieldDescriptorProto_Type) => (desc: DescriptorProto) => {
  for (const field of desc.field) if (field.name === 'reason') field.type = type;
};
const REMEDY = /npm run proto:sync -- --ref <tag>/;

test.each([
  {
    schema: schemaVariant({ removed: { Rejected: ['reason'] } }),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a rejection without a reason',
  },
  {
    schema: changed('Rejected', reasonOf(FieldDescriptorProto_Type.INT64)),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a reason that is a number',
  },
  {
    schema: changed('Rejected', reasonOf(FieldDescriptorProto_Type.BYTES)),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a reason of bytes',
  },
  {
    schema: changed('Rejected', (desc) => {
      for (const field of desc.field) field.label = FieldDescriptorProto_Label.REPEATED;
    }),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a list of reasons',
  },
  {
    schema: schemaVariant({ removed: { AdmitJobResponse: ['rejected'] } }),
    says: /no message field "rejected" in [\w.]+\.AdmitJobResponse/,
    flaw: 'no arm for a rejection',
  },
  {
    schema: schemaVariant({ removed: { AdmitJobResponse: ['admitted'] } }),
    says: /no message field "admitted" in [\w.]+\.AdmitJobResponse/,
    flaw: 'no arm for an admission',
  },
  {
    schema: changed('AdmitJobResponse', (desc) => {
      const [admitted] = desc.field;
      if (admitted !== undefined) {
        admitted.type = FieldDescriptorProto_Type.BOOL;
        admitted.typeName = '';
      }
    }),
    says: /no message field "admitted" in [\w.]+\.AdmitJobResponse/,
    flaw: 'an admission that is a yes or no',
  },
])(
  'descriptors with $flaw are refused when they are loaded, with message, field and remedy',
  ({ schema, says }) => {
    const load = () => parseSchema(schema, 'gitlab.binpb');
    expect(load).toThrow(/^\[schema_invalid\] gitlab\.binpb /);
    expect(load).toThrow(says);
    expect(load).toThrow(REMEDY);
  },
);

test('a required field that nobody can fill is found when both answers are encoded', () => {
  const proto2 = changed('Admitted', (desc) => {
    desc.field.push(
      create(FieldDescriptorProtoSchema, {
        name: 'ticket',
        jsonName: 'ticket',
        number: 1,
        type: FieldDescriptorProto_Type.STRING,
        label: FieldDescriptorProto_Label.REQUIRED,
      }),
    );
  });
  const set = fromBinary(FileDescriptorSetSchema, proto2);
  for (const file of set.file) file.syntax = 'proto2';
  const load = () => parseSchema(toBinary(FileDescriptorSetSchema, set), 'gitlab.binpb');
  expect(load).toThrow(/field "admitted" in [\w.]+\.AdmitJobResponse that cannot be encoded/);
  expect(load).toThrow(REMEDY);
});

test('other packages and numbers, arms that changed places included, are no reason to refuse', () => {
  expect(parseSchema(renamedAndRenumbered(), 'theirs').placeholder).toBe(false);
});

test('our descriptors are known by their hash, wherever the file lies, and no others are taken for them', () => {
  expect(descriptorsHash(DESCRIPTORS)).toBe(PLACEHOLDER_HASH);
  expect(loadSchema()).toMatchObject({ hash: PLACEHOLDER_HASH, placeholder: true });
  expect(parseSchema(DESCRIPTORS, '/app/gitlab.binpb')).toMatchObject({ placeholder: true });
  expect(parseSchema(renamedAndRenumbered(), 'theirs').hash).toMatch(/^[0-9a-f]{12}$/);
});
