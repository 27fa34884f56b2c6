import { readFileSync } from 'node:fs';
import { clone, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { versionIn } from '../../../relay/wire/deployable-descriptors.ts';
import {
  descriptorsHash,
  encodeResponse,
  loadSchema,
  PLACEHOLDER_HASH,
  parseSchema,
} from '../../../relay/wire/schema.ts';
import {
  createSchemaProof,
  type Evidence,
  initialState,
  JOBS_MIN,
  JOBS_MIN_ALONE,
  type SchemaState,
  SUSPECT_AT,
} from '../../../relay/wire/schema-proof.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { renamedAndRenumbered, schemaVariant } from '../../support/relay/schema-variants.ts';

const DESCRIPTORS = readFileSync(new URL('../../../relay/wire/default.binpb', import.meta.url));

/** Our descriptors with a change to one message. */
function changed(message: string, change: (desc: DescriptorProto) => void): Uint8Array {
  const set = clone(FileDescriptorSetSchema, fromBinary(FileDescriptorSetSchema, DESCRIPTORS));
  for (const file of set.file) for (const each of file.messageType) if (each.name === message) change(each);
  return toBinary(FileDescriptorSetSchema, set);
}

const REMEDY = /tollgate gitlab descriptors --ref <tag>/;

test.each([
  {
    schema: schemaVariant({ removed: { Rejected: ['reason'] } }),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a rejection without a reason',
  },
  {
    schema: changed('Rejected', (desc) => {
      for (const field of desc.field) field.label = FieldDescriptorProto_Label.REPEATED;
    }),
    says: /no string field "reason" in [\w.]+\.Rejected/,
    flaw: 'a list of reasons',
  },
  {
    schema: schemaVariant({ removed: { AdmitJobResponse: ['admitted'] } }),
    says: /no message field "admitted" in [\w.]+\.AdmitJobResponse/,
    flaw: 'no arm for an admission',
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

test('our descriptors are known by their hash, wherever the file lies, and no others are taken for them', () => {
  expect(descriptorsHash(DESCRIPTORS)).toBe(PLACEHOLDER_HASH);
  expect(loadSchema()).toMatchObject({ hash: PLACEHOLDER_HASH, placeholder: true });
  expect(parseSchema(DESCRIPTORS, '/app/gitlab.binpb')).toMatchObject({ placeholder: true });
  expect(parseSchema(renamedAndRenumbered(), 'theirs').hash).toMatch(/^[0-9a-f]{12}$/);
});

describe('encoding', () => {
  test('answers are encoded as the schema says, whatever their numbers', () => {
    const theirs = parseSchema(renamedAndRenumbered(), 'theirs');
    expect(
      fromBinary(theirs.answer, encodeResponse(theirs, { outcome: 'rejected', reason: 'no budget' })),
    ).toMatchObject({
      admissionResponse: { case: 'rejected', value: { reason: 'no budget' } },
    });
    expect(fromBinary(theirs.answer, encodeResponse(theirs, { outcome: 'admitted' }))).toMatchObject({
      admissionResponse: { case: 'admitted' },
    });
  });
});

describe('proof', () => {
  const explained = (jobId: number, project: string | undefined = `p${jobId % 3}`): Evidence => ({
    kind: 'explained',
    jobId,
    project,
  });
  const CONTRADICTED: Evidence = { kind: 'contradicted' };
  const REFUSED: Evidence = { kind: 'refused' };
  const times = <T>(count: number, of: (index: number) => T): T[] => range(1, count).map(of);

  function standingAfter(trust: SchemaState, evidence: readonly Evidence[]): SchemaState {
    const proof = createSchemaProof(trust, () => {});
    for (const each of evidence) proof.note(each);
    return proof.state;
  }

  test.each<[string, SchemaState, readonly Evidence[], SchemaState]>([
    ['nothing yet', 'unproven', [], 'unproven'],
    ['one job too few', 'unproven', times(JOBS_MIN - 1, (job) => explained(job)), 'unproven'],
    ['enough jobs of three projects', 'unproven', times(JOBS_MIN, (job) => explained(job)), 'proven'],
    ['one project, more jobs', 'unproven', times(JOBS_MIN_ALONE, (job) => explained(job, 'p')), 'proven'],
    [
      'one job asked about for ever',
      'unproven',
      times(200, (time) => explained(1, `p${time % 3}`)),
      'unproven',
    ],
    [
      'a contradiction begins the proof anew',
      'unproven',
      [...times(JOBS_MIN - 1, (job) => explained(job)), CONTRADICTED, explained(99)],
      'unproven',
    ],
    ['a refused admission', 'unproven', [REFUSED], 'suspect'],
    ['given', 'proven', [], 'proven'],
    [
      'the placeholder, whatever it explains',
      'placeholder',
      times(500, (job) => explained(job)),
      'placeholder',
    ],
    [
      'an odd contradiction',
      'proven',
      [...times(SUSPECT_AT - 1, () => CONTRADICTED), explained(1)],
      'proven',
    ],
    ['most of the recent ones', 'proven', times(SUSPECT_AT, () => CONTRADICTED), 'suspect'],
    ['a refused admission of a schema that was proven', 'proven', [explained(1), REFUSED], 'suspect'],
    [
      'fresh good questions after a refused admission',
      'proven',
      [REFUSED, ...times(JOBS_MIN, (job) => explained(job))],
      'proven',
    ],
    [
      'suspect is proven again by fresh good questions of several projects',
      'proven',
      [...times(SUSPECT_AT, () => CONTRADICTED), ...times(JOBS_MIN, (job) => explained(job))],
      'proven',
    ],
  ])('%s: from %s', (_, trust, evidence, standing) => {
    expect(standingAfter(trust, evidence)).toBe(standing);
  });

  test('the placeholder is trusted at no router but one of this machine, and no setting gives a schema', () => {
    expect(initialState({ placeholder: true }, false)).toBe('placeholder');
    expect(initialState({ placeholder: true }, true)).toBe('unproven');
    expect(initialState({ placeholder: false }, false)).toBe('unproven');
  });
});

test.each([
  ['tag v18.9.0 of https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git', '18.9'],
  ['gitlab-agent-v19.4.1.tar.gz', '19.4'],
  ['branch master of https://gitlab.com/x.git', undefined],
  ['folder proto', undefined],
])('descriptors of "%s" are of GitLab %s', (source, version) => {
  expect(versionIn(source)).toBe(version);
});
