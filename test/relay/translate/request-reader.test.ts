import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { indexDirectory } from '../../../policies/directory.ts';
import { fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';
import { JOBS_MIN, watchNeededFields } from '../../../relay/translate/needed-fields.ts';
import { compileReader, plausibilityJudge } from '../../../relay/translate/request-reader.ts';
import { encodeKnown, loadSchema, parseSchema } from '../../../relay/wire/schema.ts';
import { aPolicy } from '../../policies/documents.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { descOf } from '../../support/relay/desc-of.ts';
import { extended } from '../../support/relay/schema-variants.ts';

const ours = loadSchema();
const job = {
  id: 42n,
  job_info: { id: 42n, project_id: 9n, project_full_path: 'acme/app', tags: ['a', 'b'] },
  image: { name: 'node:24' },
};
const read = compileReader(ours, {
  variables: { names: ['COST_CENTER'], prefixes: [] },
  trustVariables: false,
});

test('fields of a newer router are told by place and form', () => {
  const newer = parseSchema(extended(), 'newer');
  const bytes = encodeKnown(newer.request, {
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

test('a problem never repeats what the question holds', () => {
  const secret = new BinaryWriter().tag(2, WireType.LengthDelimited).string('glrct-secret').finish();
  expect(JSON.stringify(read(secret))).not.toContain('glrct');
});

describe('plausibility', () => {
  const directory = indexDirectory(
    [{ id: 100, path: 'acme', personal: false }],
    [
      { id: 1, groupId: 100, path: 'acme/web' },
      { id: 2, groupId: 100, path: 'acme/api' },
    ],
  );
  const job = { jobId: 7, pipelineId: 70, projectId: 1, projectPath: 'acme/web', timeoutSeconds: 3_600 };

  test.each([
    [{}, 'plausible'],
    [{ projectId: undefined, projectPath: undefined, timeoutSeconds: undefined }, 'plausible'],
    [{ projectPath: 'node:24' }, 'impossible'],
    [{ projectPath: 'acme/unit tests' }, 'impossible'],
    [{ projectPath: 'acme/' }, 'impossible'],
    [{ projectId: 3, projectPath: 'acme/new' }, 'plausible'],
    [{ projectPath: 'acme/shop' }, 'plausible'],
    [{ projectId: 3, projectPath: 'acme/web' }, 'plausible'],
    [{ projectId: 2, projectPath: 'acme/WEB' }, 'against_directory'],
  ])('%j', (parts, expected) => {
    expect(plausibilityJudge(() => directory)({ ...job, ...parts } as typeof job)).toBe(expected);
  });

  test('the same job asked about again is plausible; its id with another pipeline or project is not', () => {
    const judge = plausibilityJudge(() => undefined);
    expect(judge(job)).toBe('plausible');
    expect(judge({ ...job, timeoutSeconds: 60 })).toBe('plausible');
    expect(judge({ ...job, pipelineId: 71 })).toBe('impossible');
    expect(judge({ ...job, projectId: 2 })).toBe('impossible');
  });
});

test('a field has no source if neither the schema nor a variable that may be read has it', () => {
  const VARIABLES = [{ key: 'string', value: 'string' }] as const;
  const desc = descOf({ jobInfo: { id: 'int64' }, variables: VARIABLES });
  expect(fieldsWithoutSource(desc)).toEqual(expect.arrayContaining(['projectId', 'timeoutSeconds']));
  const trusted = fieldsWithoutSource(desc, { trustVariables: true });
  expect(trusted).not.toContain('projectId');
  expect(trusted).not.toContain('jobId');
  expect(fieldsWithoutSource(descOf({ id: 'int64' }))).toContain('variables');
});

describe('fields that rules need', () => {
  const RULES = [
    { id: 'refs', kind: 'image', mode: 'enforce', allow: ['good/**'], match: { refs: ['main'] } },
    {
      id: 'deploys',
      kind: 'image',
      mode: 'enforce',
      allow: ['good/**'],
      match: { environments: ['production'] },
    },
    { id: 'off', kind: 'timeout', mode: 'off', max: '1h' },
  ];

  function watched(withoutSource: readonly string[] = []) {
    const told: (readonly string[])[] = [];
    const fields = watchNeededFields({
      policy: aPolicy({ rules: RULES }),
      withoutSource: new Set(withoutSource),
      nowMs: 0,
      changed: (missing) => told.push(missing),
    });
    const jobs = (count: number, parts: object): void => {
      for (const jobId of range(1, count)) fields.note({ jobId, projectId: jobId % 5, ...parts });
    };
    return { fields, told, jobs };
  }

  const FULL = { ref: 'main', environment: 'production', image: 'good/a' };

  test('a field that a rule needs and the descriptors lack is missing from the start; what no rule needs is not', () => {
    const desc = descOf({ id: 'int64', environment: 'string', image: 'string' });
    expect(watched(fieldsWithoutSource(desc)).fields.missing).toEqual(['ref']);
  });

  test('a field of every job that stops to come is missing after 1 000 jobs of several projects, until it comes again', () => {
    const { told, jobs } = watched();
    jobs(1, FULL);
    jobs(JOBS_MIN - 1, { ...FULL, ref: undefined });
    expect(told).toEqual([]);
    jobs(1, { ...FULL, ref: undefined });
    expect(told).toEqual([['ref']]);
    jobs(1, FULL);
    expect(told).toEqual([['ref'], []]);
  });
});
