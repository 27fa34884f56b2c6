import { create, createFileRegistry, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import {
  Edition,
  type EnumDescriptorProtoSchema,
  FeatureSet_EnumType,
  FeatureSet_MessageEncoding,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_wrappers,
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
const wrapper = (name: string, number: number, type: string, more: Field = {}): Field =>
  field(name, number, Type.MESSAGE, of(`.google.protobuf.${type}Value`, more));

/** Presence everywhere, defaults, groups, closed enums, lists of numbers one by one. */
const PROTO2: Messages = {
  Question: [
    field('id', 1, Type.INT64),
    field('job_info', 2, Type.GROUP, of('.odd.Job_info')),
    field('ref', 3, Type.STRING, { defaultValue: 'main' }),
    field('pipeline_source', 4, Type.ENUM, of('.odd.Source')),
    field('variables', 5, Type.GROUP, of('.odd.Variables', repeated)),
    field('image', 6, Type.STRING, { oneofIndex: 0 }),
    field('image_source', 7, Type.ENUM, of('.odd.Source', { oneofIndex: 0 })),
    field('exit_codes', 8, Type.INT32, repeated),
    field('ref_protected', 9, Type.BOOL, { defaultValue: 'true' }),
    field('timeout', 10, Type.SFIXED64),
  ],
  Job_info: [
    field('id', 1, Type.SINT64),
    field('project_id', 2, Type.FIXED32),
    field('tags', 3, Type.STRING, repeated),
  ],
  Variables: [
    field('key', 1, Type.STRING),
    field('value', 2, Type.STRING),
    field('public', 3, Type.BOOL),
    field('masked', 4, Type.BOOL, { defaultValue: 'true' }),
  ],
};

/** Wrappers, singly and in a oneof; a variable's value beside another form of it; parts that nobody reads. */
const PROTO3: Messages = {
  Question: [
    wrapper('job_id', 20, 'Int64'),
    wrapper('ref', 21, 'String'),
    wrapper('ref_protected', 22, 'Bool'),
    wrapper('project_id', 23, 'UInt64', { oneofIndex: 0 }),
    wrapper('image', 24, 'String', { oneofIndex: 0 }),
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
    wrapper('image', 3, 'String'),
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

const delimited: Field = { options: { features: { messageEncoding: FeatureSet_MessageEncoding.DELIMITED } } };

/** `job_id: {value: 7}` in the schema `proto3`. */
export const WRAPPED_JOB = Uint8Array.from([0xa2, 1, 2, 8, 7]);

/** An edition: messages as groups here and there, a closed enum beside an open one. */
const EDITION: Messages = {
  Question: [
    field('job', 1, Type.MESSAGE, of('.odd.Job', delimited)),
    field('image', 2, Type.MESSAGE, of('.odd.Image')),
    field('services', 3, Type.MESSAGE, of('.odd.Image', { ...repeated, ...delimited })),
    field('variables', 4, Type.MESSAGE, of('.odd.Variable', { ...repeated, ...delimited })),
    field('pipeline_source', 5, Type.ENUM, of('.odd.Source')),
    field('ref_type', 6, Type.ENUM, of('.odd.Closed')),
  ],
  Job: [field('id', 1, Type.UINT64), field('name', 2, Type.STRING), field('tags', 3, Type.STRING, repeated)],
  Image: [
    field('name', 1, Type.STRING),
    field('pull_policy', 2, Type.STRING, repeated),
    field('docker', 3, Type.MESSAGE, of('.odd.Docker', delimited)),
  ],
  Docker: [field('user', 1, Type.STRING)],
  Variable: [
    field('key', 1, Type.STRING),
    field('value', 2, Type.STRING),
    field('public', 3, Type.BOOL),
    field('masked', 4, Type.BOOL),
    field('file', 5, Type.BOOL),
  ],
};

/** Schemas that GitLab does not have and protobuf allows, by what is odd about them. */
export const ODD_SCHEMAS: Readonly<Record<string, DescMessage>> = {
  proto2: questionOf('proto2', PROTO2, { Question: ['image_kind'] }),
  proto3: questionOf('proto3', PROTO3, { Question: ['subject', '_environment'], Variable: ['content_kind'] }),
  editions: questionOf('editions', EDITION, {}),
};

function questionOf(
  syntax: string,
  messages: Messages,
  oneofs: Readonly<Record<string, string[]>>,
): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: 'odd.proto',
    package: 'odd',
    syntax,
    ...(syntax === 'editions' && { edition: Edition.EDITION_2023 }),
    dependency: ['google/protobuf/wrappers.proto'],
    messageType: Object.entries(messages).map(([name, fields]) => ({
      name,
      field: [...fields],
      oneofDecl: (oneofs[name] ?? []).map((oneof) => ({ name: oneof })),
    })),
    enumType: [
      enumOf('Source', 'SOURCE', {}),
      ...(syntax === 'editions'
        ? [enumOf('Closed', 'CLOSED', { options: { features: { enumType: FeatureSet_EnumType.CLOSED } } })]
        : []),
    ],
  });
  const set = create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] });
  const desc = createFileRegistry(set).getMessage('odd.Question');
  if (desc === undefined) throw new Error('no such message');
  return desc;
}

function enumOf(
  name: string,
  prefix: string,
  more: MessageInitShape<typeof EnumDescriptorProtoSchema>,
): MessageInitShape<typeof EnumDescriptorProtoSchema> {
  const values = ['UNSPECIFIED', 'PUSH', 'SCHEDULE'];
  return { name, value: values.map((value, number) => ({ name: `${prefix}_${value}`, number })), ...more };
}
