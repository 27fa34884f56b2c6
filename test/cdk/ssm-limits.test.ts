import { beforeAll, expect, test } from 'vitest';
import { DEFAULTS, type Resource, type Synthesized, synthesize } from './synthesized.ts';

let synthesized: Synthesized;
beforeAll(() => {
  synthesized = synthesize(DEFAULTS);
});

const PATH = '/tollgate/prod/limits';
const all = (type: string): readonly Resource[] =>
  synthesized
    .resources(type)
    .filter(([where]) => where.split('/')[1]?.startsWith('SsmLimits'))
    .map(([, resource]) => resource);

test('a change of any parameter below the path, and of no other, starts the program', () => {
  const [pattern] = all('AWS::Events::Rule').flatMap(({ Properties }) => Properties.EventPattern ?? []);
  expect(pattern).toEqual({
    source: ['aws.ssm'],
    'detail-type': ['Parameter Store Change'],
    detail: { name: [{ prefix: `${PATH}/` }], operation: ['Create', 'Update', 'Delete'] },
  });
});

test('it reads parameters of limits alone: it changes none, and may decrypt nothing', () => {
  const rights = JSON.stringify(all('AWS::IAM::Policy').map(({ Properties }) => Properties));
  const actions = [...rights.matchAll(/"(ssm|kms|secretsmanager):(\w+)"/g)].map(([, , action]) => action);
  expect(actions.sort()).toEqual(['GetParameterHistory', 'GetParametersByPath']);
  const parameters = [...rights.matchAll(/:parameter([^"]+)"/g)].map(([, name]) => name);
  expect([...new Set(parameters)].sort()).toEqual([PATH, `${PATH}/*`]);
});
