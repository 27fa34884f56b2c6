import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect, test } from 'vitest';
import { compileReader } from '../../../relay/translate/request-reader.ts';
import { READING_BOUNDS, type ReadingBounds, ReadingBudget } from '../../../relay/wire/pass.ts';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';
import { hostileQuestionBytes } from '../../support/relay/hostile-questions.ts';
import { ODD_JOB, ODD_SCHEMA } from '../../support/relay/odd-schemas.ts';

const schema = loadSchema();
const OPTIONS = { variables: { names: ['COST_CENTER'], prefixes: [] }, trustVariables: false };

/** Reads with the relay's bounds, or other ones, and tells what that took. */
function readCounting(bytes: Uint8Array, bounds: Partial<ReadingBounds> = {}, desc = schema.request) {
  const budget = new ReadingBudget({ ...READING_BOUNDS, ...bounds }, () => 0);
  const read = compileReader(
    { request: desc, source: 'test' },
    { ...OPTIONS, newBudget: () => budget },
  )(bytes);
  return { read, taken: budget.taken };
}

const corpus = Object.entries(hostileQuestionBytes(schema.request));

/** These cost bytes that are skipped, or translation refuses them before it comes to that. */
const WITHIN_BOUNDS = new Set(['one variable that is large', 'references in many services']);

test.each(corpus)('4 MiB of %s take no more than any question may', (name, bytes) => {
  expect(bytes.length).toBeGreaterThan(READING_BOUNDS.bytes - 1_100);
  expect(bytes.length).toBeLessThanOrEqual(READING_BOUNDS.bytes);
  const { read, taken } = readCounting(bytes);
  // The one that passes a bound is counted, and is the last.
  expect(taken.tags).toBeLessThanOrEqual(READING_BOUNDS.tags + 1);
  expect(taken.items).toBeLessThanOrEqual(READING_BOUNDS.items + 1);
  if (WITHIN_BOUNDS.has(name)) expect(read).toMatchObject({ ok: true, request: { jobId: 7 } });
  else expect(read).toMatchObject({ ok: false, cause: 'oversized' });
});

test.each([
  ['numbers in a packed list', packed(), { ok: true }],
  ['messages in messages of one kind', nested(), { ok: true }],
])('what nobody reads is one step, however large: %s', (_, bytes, expected) => {
  const { read, taken } = readCounting(bytes, {}, ODD_SCHEMA);
  expect(bytes.length).toBeGreaterThan(4_000_000);
  expect(read).toMatchObject(expected);
  expect(taken.tags).toBeLessThan(5);
});

test('an oversized question still names its job and its project, so that it is booked and its brake is on that project alone', () => {
  const [, empty] = corpus[0] ?? [];
  expect(readCounting(empty ?? new Uint8Array()).read).toMatchObject({
    cause: 'oversized',
    problem: 'more than 9216 variables and services',
    ids: { jobId: 7, projectId: 42 },
  });
  const large = Buffer.concat([encodeKnown(schema.request, JOB), value('APP_CONFIG', 5_000_000)]);
  expect(readCounting(large).read).toMatchObject({
    cause: 'oversized',
    problem: 'more than 4194304 bytes',
    ids: { jobId: 7, projectId: 42 },
  });
});

test('the fullest job that GitLab can send is read, with room to spare', () => {
  // 8000 variables of a project, 997 of a group and GitLab's own, all flags set, with names as long as they may be on average.
  const variables = Array.from({ length: 9_150 }, (_, index) => ({
    key: `${'SERVICE_CONFIGURATION_OF_TENANT'}_${index}`,
    value: `{"tenant":${index},"hosts":["a.example.com","b.example.com"]}`,
    public: true,
    file: true,
    masked: true,
    raw: true,
  }));
  const { read, taken } = readCounting(encodeKnown(schema.request, { ...JOB, variables }));
  expect(read).toMatchObject({ ok: true, request: { jobId: 7, variables: {} } });
  expect(taken.tags).toBeLessThan(READING_BOUNDS.tags);
  expect(taken.textBytes).toBeLessThan(READING_BOUNDS.textBytes / 2);
});

test('values that nobody may look at are never decoded', () => {
  const variables = ['APP_CONFIG', 'CI_JOB_TOKEN', 'KUBERNETES_BEARER_TOKEN'].map((key) => ({
    key,
    value: 'x'.repeat(1_000),
    masked: key !== 'APP_CONFIG',
  }));
  const { taken } = readCounting(encodeKnown(schema.request, { id: 7n, variables }));
  expect(taken.textBytes).toBe(
    'APP_CONFIG'.length + 'CI_JOB_TOKEN'.length + 'KUBERNETES_BEARER_TOKEN'.length,
  );
});

test.each([
  ['tags', { tags: 10 }, 'more than 10 fields'],
  ['variables', { items: 10 }, 'more than 10 variables and services'],
  ['text', { textBytes: 30 }, 'more than 30 bytes of text to read'],
])('a question with one more than its bound of %s is oversized', (_, bounds, problem) => {
  const variables = Array.from({ length: 11 }, () => ({ key: 'ABC', value: '' }));
  const { read } = readCounting(encodeKnown(schema.request, { id: 7n, variables }), bounds);
  expect(read).toMatchObject({ ok: false, cause: 'oversized', problem });
});

test('on a machine on which counting does not help, the time ends it', () => {
  let usedMs = 0;
  const budget = new ReadingBudget(READING_BOUNDS, () => {
    usedMs += 4;
    return usedMs;
  });
  const [, numbers] = corpus.find(([name]) => name === 'numbers') ?? [];
  const read = compileReader(schema, { ...OPTIONS, newBudget: () => budget })(numbers ?? new Uint8Array());
  expect(read).toMatchObject({ cause: 'oversized', problem: 'more than 15 ms to read' });
  expect(budget.taken.tags).toBeLessThan(READING_BOUNDS.tags / 4);
});

const JOB = { id: 7n, job_info: { id: 7n, project_id: 42n } };

const value = (key: string, sizeBytes: number): Uint8Array =>
  encodeKnown(schema.request, { variables: [{ key, value: 'x'.repeat(sizeBytes) }] as never });

function packed(): Uint8Array {
  return new BinaryWriter()
    .raw(ODD_JOB)
    .tag(29, WireType.LengthDelimited)
    .bytes(new Uint8Array(4_000_000))
    .finish();
}

function nested(): Uint8Array {
  const writer = new BinaryWriter().raw(ODD_JOB).tag(30, WireType.LengthDelimited);
  return writer.bytes(new Uint8Array(4_000_000).fill(0x0a)).finish();
}
