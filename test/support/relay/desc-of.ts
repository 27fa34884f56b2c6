import { create, createFileRegistry, type DescMessage, fromJson, type Message } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';

/** A message's fields: `?` marks explicit presence, an array a repeated field, an object a nested message. */
export interface Shape {
  readonly [field: string]: FieldShape;
}
type Scalar = 'int64' | 'uint32' | 'string' | 'bool' | 'bool?' | 'int64?' | 'string?';
type FieldShape = Scalar | Shape | readonly [Scalar | Shape];

const TYPES = {
  int64: FieldDescriptorProto_Type.INT64,
  uint32: FieldDescriptorProto_Type.UINT32,
  string: FieldDescriptorProto_Type.STRING,
  bool: FieldDescriptorProto_Type.BOOL,
} as const;

/** Builds the descriptor of a question with these fields, to try schemas GitLab might have. */
export function descOf(shape: Shape): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: 'try.proto',
    package: 'try',
    syntax: 'proto3',
    messageType: [messageOf('Question', shape, '.try')],
  });
  const desc = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] })).getMessage(
    'try.Question',
  );
  if (desc === undefined) throw new Error('no such message');
  return desc;
}

/** A message of that descriptor from its JSON form. */
export const messageFrom = (desc: DescMessage, json: Readonly<Record<string, unknown>>): Message =>
  fromJson(desc, json as never);

function messageOf(name: string, shape: Shape, scope: string): DescriptorProto {
  const message = create(DescriptorProtoSchema, { name });
  for (const [index, [field, type]] of Object.entries(shape).entries()) {
    message.field.push(fieldOf(field, index + 1, type, message, `${scope}.${name}`));
  }
  return message;
}

function fieldOf(
  name: string,
  number: number,
  type: FieldShape,
  owner: DescriptorProto,
  scope: string,
): FieldDescriptorProto {
  const one = Array.isArray(type) ? (type as readonly [Scalar | Shape])[0] : (type as Scalar | Shape);
  const field = create(FieldDescriptorProtoSchema, {
    name,
    number,
    label: Array.isArray(type) ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
  });
  if (typeof one === 'object') {
    const nested = `M${name.replaceAll('_', '')}`;
    owner.nestedType.push(messageOf(nested, one, scope));
    field.type = FieldDescriptorProto_Type.MESSAGE;
    field.typeName = `${scope}.${nested}`;
    return field;
  }
  field.type = TYPES[one.replace('?', '') as keyof typeof TYPES];
  if (one.endsWith('?')) {
    field.proto3Optional = true;
    field.oneofIndex = owner.oneofDecl.length;
    owner.oneofDecl.push({ $typeName: 'google.protobuf.OneofDescriptorProto', name: `_${name}` });
  }
  return field;
}
