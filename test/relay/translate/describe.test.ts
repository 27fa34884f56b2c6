import { expect, test } from 'vitest';
import { describeAliases } from '../../../relay/translate/alias-sources.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { descOf } from '../../support/relay/desc-of.ts';

const VARIABLES = [{ key: 'string', value: 'string' }] as const;
const find = (fields: ReturnType<typeof describeAliases>, name: string) =>
  fields.find(({ field }) => field === name);

test('a field says where it comes from, best source first, as the schema spells it', () => {
  const desc = descOf({ jobInfo: { projectId: 'int64' }, project_id: 'int64', variables: VARIABLES });
  const fields = describeAliases(desc, { trustVariables: true });
  expect(find(fields, 'projectId')).toEqual({
    field: 'projectId',
    paths: ['jobInfo.projectId', 'project_id'],
    variables: ['CI_PROJECT_ID'],
    never: false,
  });
});

test('a field without a source says that rules on it can never fire', () => {
  const fields = describeAliases(descOf({ id: 'int64' }), { trustVariables: false });
  expect(find(fields, 'image')?.never).toBe(true);
  expect(find(fields, 'variables')?.never).toBe(true);
  expect(find(fields, 'jobId')?.never).toBe(false);
});

test('a field of the wrong type is no source', () => {
  const fields = describeAliases(descOf({ id: 'int64', project_id: 'string', tags: 'string' }), {
    trustVariables: false,
  });
  expect(find(fields, 'projectId')?.never).toBe(true);
  expect(find(fields, 'jobTags')?.never).toBe(true);
});

test('untrusted variables are no source of identity', () => {
  const desc = descOf({ id: 'int64', variables: VARIABLES });
  expect(find(describeAliases(desc, { trustVariables: false }), 'projectId')?.variables).toEqual([]);
  expect(find(describeAliases(desc, { trustVariables: false }), 'ref')?.variables).toEqual([
    'CI_COMMIT_REF_NAME',
  ]);
});

test('pull policies and users are fields of their own, with the paths that fill them', () => {
  const fields = describeAliases(loadSchema().question, { trustVariables: false });
  expect(find(fields, 'pullPolicies')?.paths).toEqual(['image.pull_policy']);
  expect(find(fields, 'dockerUser')?.paths).toEqual(['image.executor_opts.docker.user']);
  expect(find(fields, 'kubernetesUser')?.paths).toEqual(['image.executor_opts.kubernetes.user']);
});

test('our own schema can fill everything but what GitLab keeps in variables', () => {
  const fields = describeAliases(loadSchema().question, { trustVariables: false });
  expect(fields.filter(({ never }) => never)).toEqual([]);
});
