import { create, createFileRegistry, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type Messages = Readonly<Record<string, readonly Field[]>>;

const field = (name: string, number: number, type: Type, more: Field = {}): Field => ({
  name,
  number,
  type,
  label: Label.OPTIONAL,
  ...more,
});
const of = (typeName: string, more: Field = {}): Field => ({ typeName, ...more });
const repeated: Field = { label: Label.REPEATED };

/** Fields in a oneof; a variable's value next to another form of it; parts that no program reads. */
const PROTO3: Messages = {
  Question: [
    field('job_id', 20, Type.INT64),
    field('timeout', 22, Type.SFIXED64),
    field('project_id', 23, Type.FIXED32, { oneofIndex: 0 }),
    field('image', 24, Type.STRING, { oneofIndex: 0 }),
    field('environment', 25, Type.STRING, { oneofIndex: 1, proto3Optional: true }),
    field('runner', 26, Type.MESSAGE, of('.odd.Runner', { oneofIndex: 0 })),
    field('services', 27, Type.MESSAGE, of('.odd.Service', repeated)),
    field('variables', 28, Type.MESSAGE, of('.odd.Variable', repeated)),
    field('sizes', 29, Type.UINT32, repeated),
    field('tree', 30, Type.MESSAGE, of('.odd.Tree')),
    field('ref_type', 31, Type.ENUM, of('.odd.Source')),
  ],
  Runner: [field('id', 1, Type.UINT32), field('tags', 2, Type.STRING, repeated)],
  Service: [
    field('image', 3, Type.STRING),
    field('alias', 4, Type.INT64),
    field('variables', 5, Type.MESSAGE, of('.odd.Variable', repeated)),
  ],
  Variable: [
    field('name', 2, Type.STRING),
    field('value', 3, Type.STRING, { oneofIndex: 0 }),
    field('content', 4, Type.BYTES, { oneofIndex: 0 }),
    field('masked', 5, Type.BOOL),
    field('file', 6, Type.BOOL, { oneofIndex: 0 }),
  ],
  Tree: [field('child', 1, Type.MESSAGE, of('.odd.Tree')), field('name', 2, Type.STRING)],
};

/** `job_id: 7` in the schema. */
export const ODD_JOB = Uint8Array.from([0xa0, 1, 7]);

/** A schema that GitLab does not have and protobuf allows. */
export const ODD_SCHEMA: DescMessage = questionOf(PROTO3, {
  Question: ['subject', '_environment'],
  Variable: ['content_kind'],
});

function questionOf(messages: Messages, oneofs: Readonly<Record<string, string[]>>): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: 'odd.proto',
    package: 'odd',
    syntax: 'proto3',
    messageType: Object.entries(messages).map(([name, fields]) => ({
      name,
      field: [...fields],
      oneofDecl: (oneofs[name] ?? []).map((oneof) => ({ name: oneof })),
    })),
    enumType: [
      {
        name: 'Source',
        value: ['UNSPECIFIED', 'PUSH', 'SCHEDULE'].map((value, number) => ({
          ...{ name: `SOURCE_${value}`, number },
        })),
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, { file: [file] });
  const desc = createFileRegistry(set).getMessage('odd.Question');
  if (desc === undefined) throw new Error('no such message');
  return desc;
}
