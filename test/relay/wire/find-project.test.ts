import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PROJECT_ID_PATHS } from '../../../relay/translate/aliases.ts';
import { projectFinder } from '../../../relay/wire/find-project.ts';
import { encodeKnown, loadSchema, parseSchema } from '../../../relay/wire/schema.ts';
import { renamedAndRenumbered } from '../../../scripts/local-router/schemas.ts';

const ours = loadSchema();
const find = projectFinder(ours.question, PROJECT_ID_PATHS);
const job = { id: 42n, job_info: { id: 42n, name: 'unit', project_id: 1001n } };

test('the project is found in a question that is too large, behind and before everything else', () => {
  const question = encodeKnown(ours.question, job);
  const large = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(new Uint8Array(5_000_000)).finish();
  expect(find(Buffer.concat([question, large]))).toBe(1001);
  expect(find(Buffer.concat([large, question]))).toBe(1001);
});

test('by the numbers of the schema in use', () => {
  const theirs = parseSchema(renamedAndRenumbered(), 'theirs');
  const bytes = encodeKnown(theirs.question, job);
  expect(projectFinder(theirs.question, PROJECT_ID_PATHS)(bytes)).toBe(1001);
});

test('a question of nothing but tags names no project, and costs no more than ten thousand of them', () => {
  const tags = new Uint8Array(4_000_000).map((_, index) => (index % 2 === 0 ? 0x2a : 0));
  expect(find(Buffer.concat([tags, encodeKnown(ours.question, job)]))).toBeUndefined();
});

test('no bytes can make it throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(['number', 'undefined']).toContain(typeof find(bytes));
    }),
    { numRuns: 2_000 },
  );
});
