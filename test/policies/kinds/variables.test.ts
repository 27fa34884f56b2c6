import { expect, test } from 'vitest';
import { aPolicy } from '../documents.ts';
import { reasonsOf } from './checking.ts';

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
