import { expect, test } from 'vitest';
import { aPolicy } from '../documents.ts';
import { problemsOf, reasonsOf } from './checking.ts';

const rule = (keys: object): object => ({ kind: 'variables', ...keys });
const against = (keys: object, variables: Readonly<Record<string, string>>, hidden: readonly string[] = []) =>
  reasonsOf(rule(keys), { variables, hiddenVariables: hidden });

test('all that is wrong is told, with names and no values', () => {
  const keys = {
    require: ['TEAM', 'COST'],
    allow: { COST: ['47??', '48??'], STAGE: ['dev'] },
    deny: { DEBUG: ['**'] },
  };
  expect(against(keys, { COST: '0815', DEBUG: 'a/b' }, ['STAGE'])).toEqual([
    { code: 'VARIABLE_NOT_ALLOWED', variable: 'TEAM', why: 'required' },
    { code: 'VARIABLE_NOT_ALLOWED', variable: 'COST', why: 'pattern', allowed: ['47??', '48??'] },
    { code: 'FIELD_MISSING', field: 'variables.STAGE' },
    { code: 'VARIABLE_NOT_ALLOWED', variable: 'DEBUG', why: 'denied' },
  ]);
});

test.each<[object, string]>([
  [{}, 'rules[0]: has nothing to check; expected require, allow or deny'],
  [{ require: ['A B'] }, "rules[0].require[0]: 'A B'; expected the name of a variable"],
  [
    { require: ['DEPLOY_TOKEN'] },
    "rules[0].require[0]: 'DEPLOY_TOKEN' looks like a secret: its value would leave the relay",
  ],
  [
    { allow: { KUBERNETES_CPU_LIMIT: ['1'] } },
    "rules[0].allow.KUBERNETES_CPU_LIMIT: 'KUBERNETES_CPU_LIMIT' has rules of its own: kinds resources and overwrites",
  ],
  [{ allow: { A: [] } }, 'rules[0].allow.A: is empty; leave it out or list patterns of values'],
  [
    { require: ['A'], match: { variables: {} } },
    'rules[0].match.variables: is empty; leave it out or name variables',
  ],
  [
    { require: ['A'], exempt: [{ variables: { B: true }, reason: 'x', until: 'never' }] },
    'rules[0].exempt[0].variables: unknown key',
  ],
])('%j is refused: %s', (keys, problem) => {
  const problems = problemsOf(rule(keys));
  expect(
    problems.some((each) => each.startsWith(problem)),
    problems.join('\n'),
  ).toBe(true);
});

test('names that rules compare are asked of the relay, each once', () => {
  const policy = aPolicy({
    rules: [
      {
        id: 'a',
        kind: 'budget',
        mode: 'enforce',
        match: { variables: { A: true }, not: { variables: { B: ['x'] } } },
      },
      {
        id: 'b',
        kind: 'variables',
        mode: 'shadow',
        require: ['A', 'C'],
        allow: { D: ['x'] },
        deny: { E: ['x'] },
      },
    ],
  });
  expect(policy.variables).toEqual({ names: [], prefixes: [], compared: ['A', 'B', 'C', 'D', 'E'] });
});
