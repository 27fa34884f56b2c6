import { fromBinary, toJson } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { loadSchema, parseSchema } from '../../../../relay/wire/schema.ts';
import { questionEncoder } from '../../../../scripts/local/router/messages.ts';
import { renumbered } from '../../../../scripts/local/router/schemas.ts';
import { extended, renamedPackage, withoutTags } from '../../../support/relay/schema-variants.ts';

const ours = loadSchema();

const job = {
  id: 2 ** 40,
  job_info: {
    id: 2 ** 40,
    name: 'unit tests: [a, b]',
    project_full_path: 'acme/payments/api',
    tags: ['large'],
  },
  git_info: { ref: 'main', protected: false },
  variables: [{ key: 'CI_JOB_STAGE', value: 'test', public: true }],
  image: { name: 'registry.example.com:5000/go:1' },
};

test('renaming moves the method and renumbering moves every field', () => {
  expect(parseSchema(renamedPackage(), 'v').admitJobPath).toBe(
    '/gitlab.agent.runner_controller.v2.rpc.RunnerControllerService/AdmitJob',
  );
  const moved = parseSchema(renumbered(), 'v');
  for (const field of moved.question.fields) {
    expect(field.number).not.toBe(ours.question.fields.find(({ name }) => name === field.name)?.number);
  }
  expect(moved.answer.fields.map(({ name, number }) => [name, number])).toEqual([
    ['admitted', 2],
    ['rejected', 1],
  ]);
});

test('a newer router sends fields that our schema does not explain', () => {
  const newer = parseSchema(extended(), 'v');
  const bytes = questionEncoder(
    newer.question,
    true,
  )({ id: 1, admission_nonce: 'n', job_info: { region: 'eu' } });
  const read = fromBinary(ours.question, bytes);
  expect(read.$unknown?.map(({ no }) => no)).toEqual([900]);
});

test('an older router leaves out the keys it does not have, and strict mode names them', () => {
  const older = parseSchema(withoutTags(), 'v');
  expect(
    toJson(older.question, fromBinary(older.question, questionEncoder(older.question, false)(job))),
  ).not.toHaveProperty('jobInfo.tags');
  expect(() => questionEncoder(older.question, true)(job)).toThrow(/JobInfo.*"tags" is unknown/);
});
