import { fromBinary, toJson } from '@bufbuild/protobuf';
import { afterEach, expect, test } from 'vitest';
import { loadSchema, parseSchema } from '../../../../relay/wire/schema.ts';
import { type LocalRouter, startLocalRouter } from '../../../../scripts/local/router/local-router.ts';
import { questionEncoder } from '../../../../scripts/local/router/messages.ts';
import { renumbered } from '../../../../scripts/local/router/schemas.ts';
import {
  extended,
  renamedAndRenumbered,
  renamedPackage,
  withoutTags,
} from '../../../support/relay/schema-variants.ts';
import { bareClient } from './bare-client.ts';

const ours = loadSchema();
const routers: LocalRouter[] = [];

afterEach(async () => {
  for (const router of routers.splice(0)) await router.close();
});

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

test.each([
  { variant: 'renamedPackage', bytes: renamedPackage() },
  { variant: 'renumbered', bytes: renumbered() },
  { variant: 'renamedAndRenumbered', bytes: renamedAndRenumbered() },
  { variant: 'extended', bytes: extended() },
])('a router with the schema $variant is understood by a client with the same one', async ({ bytes }) => {
  const schema = parseSchema(bytes, 'variant');
  const router = await startLocalRouter({
    schema,
    wsPort: 'off',
    controllers: [{ id: 1, tokens: ['t'], state: 'enabled' }],
  });
  routers.push(router);
  const client = bareClient(router.grpcUrl ?? '', { schema, token: 't' });
  const stream = client.open();
  const admission = router.admit(job);
  expect(toJson(schema.question, fromBinary(schema.question, await stream.question))).toEqual(
    toJson(ours.question, fromBinary(ours.question, questionEncoder(ours.question, true)(job))),
  );
  stream.reject('because');
  expect(await admission).toMatchObject({ result: 'rejected', reason: 'because' });
  client.close();
});

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
