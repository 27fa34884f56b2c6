import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeQuestion } from '../../../relay/wire/decode.ts';
import { explain, FIELDS_MAX } from '../../../relay/wire/explain.ts';
import {
  encodeAdmitted,
  encodeKnown,
  encodeRejected,
  loadSchema,
  parseSchema,
} from '../../../relay/wire/schema.ts';
import { extended, renamedAndRenumbered } from '../../../scripts/local-router/schemas.ts';

const ours = loadSchema();
const job = {
  id: 42n,
  job_info: { id: 42n, project_full_path: 'acme/app', tags: ['a', 'b'] },
  image: { name: 'node:24' },
};
const question = encodeKnown(ours.question, job);

test('a question of our schema decodes, and nothing in it is unknown', () => {
  const decoded = decodeQuestion(ours, question);
  expect(decoded).toMatchObject({
    ok: true,
    unknown: [],
    message: { id: 42n, jobInfo: { projectFullPath: 'acme/app', tags: ['a', 'b'] } },
  });
});

test('a renamed package and other field numbers need new descriptors and no new release', () => {
  const theirs = parseSchema(renamedAndRenumbered(), 'theirs');
  expect(theirs.admitJobPath).toBe('/gitlab.agent.runner_controller.v2.rpc.RunnerControllerService/AdmitJob');
  const bytes = encodeKnown(theirs.question, job);
  expect(Buffer.from(bytes).equals(Buffer.from(question))).toBe(false);
  expect(decodeQuestion(theirs, bytes)).toMatchObject({
    ok: true,
    unknown: [],
    message: { id: 42n, image: { name: 'node:24' } },
  });
  const rejected = fromBinary(theirs.answer, encodeRejected(theirs, 'no budget'));
  expect(rejected).toMatchObject({ admissionResponse: { case: 'rejected', value: { reason: 'no budget' } } });
  expect(fromBinary(theirs.answer, encodeAdmitted(theirs))).toMatchObject({
    admissionResponse: { case: 'admitted' },
  });
});

test('fields of a newer router are counted by place and form, and kept', () => {
  const newer = parseSchema(extended(), 'newer');
  const bytes = encodeKnown(newer.question, {
    ...job,
    admission_nonce: 'n',
    job_info: { ...job.job_info, region: 'eu' },
  });
  const decoded = decodeQuestion(ours, bytes);
  if (!decoded.ok) throw new Error(decoded.problem);
  expect([...decoded.unknown].sort()).toEqual(['900:bytes', 'job_info.900:bytes']);
  expect(fromBinary(newer.question, toBinary(ours.question, decoded.message))).toMatchObject({
    admissionNonce: 'n',
    jobInfo: { region: 'eu' },
  });
});

test('a thousand unknown fields do not make a thousand log entries', () => {
  const writer = new BinaryWriter();
  for (let no = 100; no < 1_100; no += 1) writer.tag(no, WireType.Varint).uint32(1);
  const decoded = decodeQuestion(ours, writer.finish());
  expect(decoded.ok && decoded.unknown).toHaveLength(FIELDS_MAX);
});

test('a field in another form than the schema says is a problem, not garbage', () => {
  const bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).string('not a number').finish();
  expect(decodeQuestion(ours, bytes)).toEqual({
    ok: false,
    problem:
      'id (1) is bytes, the schema says varint; the schema (built-in descriptors) is of another version',
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
  expect(decodeQuestion(ours, bytes)).toMatchObject({ ok: false, problem: expect.any(String) });
});

test('a problem never repeats what the question holds', () => {
  const secret = new BinaryWriter().tag(2, WireType.LengthDelimited).string('glrct-secret').finish();
  const decoded = decodeQuestion(ours, secret);
  expect(
    JSON.stringify(decoded, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain('glrct');
});

test('no bytes at all can make the decoder throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(typeof decodeQuestion(ours, bytes).ok).toBe('boolean');
    }),
    { numRuns: 2_000 },
  );
});

test('no single changed byte of a real question can make the decoder throw', () => {
  fc.assert(
    fc.property(fc.nat(question.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const bytes = Uint8Array.from(question);
      bytes[at] = byte;
      expect(typeof decodeQuestion(ours, bytes).ok).toBe('boolean');
    }),
    { numRuns: 2_000 },
  );
});

test('the share of known bytes counts unknown fields with their tags', () => {
  const unknown = new BinaryWriter().tag(999, WireType.LengthDelimited).string('x'.repeat(20)).finish();
  const explanation = explain(ours.question, Buffer.concat([question, unknown]));
  expect(explanation.totalBytes - explanation.knownBytes).toBe(unknown.length);
});
