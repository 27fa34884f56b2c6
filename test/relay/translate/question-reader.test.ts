import { create, createFileRegistry, fromJson, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  DescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { FIELDS_MAX } from '../../../relay/wire/pass.ts';
import { encodeKnown, loadSchema, parseSchema, type WireSchema } from '../../../relay/wire/schema.ts';
import { extended, renamedAndRenumbered } from '../../support/relay/schema-variants.ts';

const ours = loadSchema();
const job = {
  id: 42n,
  job_info: { id: 42n, project_id: 9n, project_full_path: 'acme/app', tags: ['a', 'b'] },
  image: { name: 'node:24' },
};
const question = encodeKnown(ours.question, job);
const readerOf = (schema: WireSchema) =>
  compileReader(schema, { variables: { names: ['COST_CENTER'], prefixes: [] }, trustVariables: false });
const read = readerOf(ours);

test('a question of our schema is read, and nothing in it is unknown', () => {
  expect(read(question)).toEqual({
    ok: true,
    request: { jobId: 42, projectId: 9, projectPath: 'acme/app', jobTags: ['a', 'b'], image: 'node:24' },
    suspicious: [],
    unknown: [],
  });
});

test('a renamed package and other field numbers need new descriptors and no new release', () => {
  const theirs = parseSchema(renamedAndRenumbered(), 'theirs');
  expect(theirs.admitJobPath).toBe('/gitlab.agent.runner_controller.v2.rpc.RunnerControllerService/AdmitJob');
  const bytes = encodeKnown(theirs.question, job);
  expect(Buffer.from(bytes).equals(Buffer.from(question))).toBe(false);
  expect(readerOf(theirs)(bytes)).toMatchObject({
    ok: true,
    unknown: [],
    request: { jobId: 42, image: 'node:24' },
  });
});

test('fields of a newer router are told by place and form', () => {
  const newer = parseSchema(extended(), 'newer');
  const bytes = encodeKnown(newer.question, {
    ...job,
    admission_nonce: 'n',
    job_info: { ...job.job_info, region: 'eu' },
  });
  expect(read(bytes)).toMatchObject({
    ok: true,
    request: { jobId: 42, projectPath: 'acme/app' },
    unknown: ['900:bytes', 'job_info.900:bytes'],
  });
});

test('a thousand unknown fields do not make a thousand log entries', () => {
  const writer = new BinaryWriter();
  for (let no = 100; no < 1_100; no += 1) writer.tag(no, WireType.Varint).uint32(1);
  expect(read(writer.finish()).unknown).toHaveLength(FIELDS_MAX);
});

test('a field in another form than the schema says is a problem, not garbage', () => {
  const bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).string('not a number').finish();
  expect(read(bytes)).toEqual({
    ok: false,
    cause: 'unreadable',
    problem:
      'id (1) is bytes, the schema says varint; the schema (built-in descriptors) is of another version',
    blame: 'schema',
    unknown: [],
  });
});

test('of several contradictions the same one is told whatever their order, and no id is believed', () => {
  const wrong = [1, 2].map((no) =>
    no === 1
      ? new BinaryWriter().tag(1, WireType.Bit32).fixed32(1).finish()
      : new BinaryWriter().tag(2, WireType.Varint).uint32(1).finish(),
  );
  const problems = [wrong, wrong.toReversed()].map((parts) => read(Buffer.concat([question, ...parts])));
  expect(problems[0]).toEqual(problems[1]);
  expect(problems[0]).not.toHaveProperty('ids');
});

test('bytes that a schema of another version takes for a text do not hide the contradiction behind them', () => {
  const image = new BinaryWriter()
    .tag(7, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .bytes(Uint8Array.from([0xff, 0xfe]))
    .join()
    .finish();
  expect(read(Buffer.concat([question, image]))).toMatchObject({
    problem: 'image.name is not valid UTF-8',
    ids: { jobId: 42, projectId: 9 },
  });
  const alsoWrong = new BinaryWriter().tag(1, WireType.Bit32).fixed32(1).finish();
  expect(read(Buffer.concat([question, image, alsoWrong]))).toMatchObject({
    problem: expect.stringContaining('id (1) is fixed32'),
  });
});

test.each([
  ['cut off in the middle', question.subarray(0, question.length - 1)],
  [
    'a length beyond the message',
    new BinaryWriter().tag(2, WireType.LengthDelimited).uint32(1_000_000).finish(),
  ],
  ['a nested length beyond its message', Uint8Array.from([0x12, 0x02, 0x12, 0x7f, 0x08, 0x01])],
  ['a varint that never ends', Uint8Array.from([0x08, ...Array.from({ length: 20 }, () => 0xff)])],
  ['field number zero', Uint8Array.from([0x00, 0x01])],
  [
    'text that is no UTF-8',
    new BinaryWriter()
      .tag(7, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .bytes(Uint8Array.from([0xff, 0xfe]))
      .join()
      .finish(),
  ],
  ['groups nested without end', Uint8Array.from(Array.from({ length: 10_000 }, () => 0x63))],
])('a poisoned question is a value, never an exception: %s', (_, bytes) => {
  expect(read(bytes)).toMatchObject({ ok: false, cause: 'unreadable', problem: expect.any(String) });
});

test('a problem never repeats what the question holds', () => {
  const secret = new BinaryWriter().tag(2, WireType.LengthDelimited).string('glrct-secret').finish();
  expect(JSON.stringify(read(secret))).not.toContain('glrct');
});

test('problems in the bytes have few texts, whatever numbers stand in them', () => {
  const illegal = [6, 7].flatMap((wireType) => [1, 2, 3].map((no) => Uint8Array.of(no * 8 + wireType)));
  const beyond = [100, 101].map((no) =>
    new BinaryWriter().tag(no, WireType.LengthDelimited).uint32(1_000_000).finish(),
  );
  expect(new Set(illegal.map((bytes) => JSON.stringify(read(bytes)))).size).toBe(1);
  expect(new Set(beyond.map((bytes) => JSON.stringify(read(bytes)))).size).toBe(1);
});

test('variables that come as a map are read, and no more than GitLab’s own context leaves the relay', () => {
  const entry = create(DescriptorProtoSchema, {
    name: 'VariablesEntry',
    options: { mapEntry: true },
    field: ['key', 'value'].map((name, index) => ({
      name,
      number: index + 1,
      type: Type.STRING,
      label: Label.OPTIONAL,
    })),
  });
  const fields = [
    { name: 'id', number: 1, type: Type.INT64, label: Label.OPTIONAL },
    {
      ...{ name: 'variables', number: 2, type: Type.MESSAGE, label: Label.REPEATED },
      typeName: '.map.Question.VariablesEntry',
    },
  ];
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: 'map.proto', package: 'map', syntax: 'proto3' },
    messageType: [{ name: 'Question', nestedType: [entry], field: fields }],
  });
  const set = create(FileDescriptorSetSchema, { file: [file] });
  const desc = createFileRegistry(set).getMessage('map.Question');
  if (desc === undefined) throw new Error('no such message');
  const variables = { CI_COMMIT_REF_NAME: 'main', CI_JOB_TOKEN: 'glcbt-not-a-secret', COST_CENTER: '7' };
  const bytes = toBinary(desc, fromJson(desc, { id: '7', variables }));
  const options = { variables: { names: ['COST_CENTER'], prefixes: [] }, trustVariables: false };
  expect(compileReader({ question: desc, source: 'map' }, options)(bytes)).toMatchObject({
    ok: true,
    request: { jobId: 7, ref: 'main', variables: { CI_COMMIT_REF_NAME: 'main' } },
  });
});

test('a variable that nobody may look at is not decoded, one that leaves the relay must be a text', () => {
  const variable = (key: string): Uint8Array =>
    new BinaryWriter()
      .tag(5, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .string(key)
      .tag(2, WireType.LengthDelimited)
      .bytes(Uint8Array.from([0xff]))
      .join()
      .finish();
  expect(read(Buffer.concat([question, variable('BINARY')]))).toMatchObject({
    ok: true,
    request: { variables: {} },
  });
  const kept = new BinaryWriter().tag(5, WireType.LengthDelimited);
  kept.fork().tag(1, WireType.LengthDelimited).string('CI_JOB_NAME');
  kept
    .tag(2, WireType.LengthDelimited)
    .bytes(Uint8Array.from([0xff]))
    .join();
  expect(read(Buffer.concat([question, kept.finish()]))).toMatchObject({
    ok: false,
    cause: 'unreadable',
    problem: 'a variable is not valid UTF-8',
    ids: { jobId: 42, projectId: 9 },
  });
});
