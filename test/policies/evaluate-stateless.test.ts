import { expect, test } from 'vitest';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import { aDirectory, aPolicy, NOW_MS } from './documents.ts';

const image = (id: string, parts: object): object => ({
  id,
  kind: 'image',
  mode: 'enforce',
  allow: ['good/**'],
  ...parts,
});
const job = { jobId: 1, namespaceId: 104, rootNamespaceId: 100, image: 'evil' };

test('every rule that needs no counter is asked, whatever its class; limits fall open', () => {
  const policy = aPolicy({
    rules: [
      { id: 'budget', kind: 'budget', mode: 'enforce', on_missing: 'reject' },
      image('thrift', { class: 'cost' }),
      image('watching', { mode: 'shadow' }),
      image('images', {}),
      image('off', { mode: 'off' }),
    ],
  });
  const { violations, unevaluated } = evaluateStateless(job, {
    policy,
    directory: aDirectory,
    nowMs: NOW_MS,
  });
  expect(violations.map(({ rule, mode }) => [rule, mode])).toEqual([
    ['thrift', 'enforce'],
    ['watching', 'shadow'],
    ['images', 'enforce'],
  ]);
  expect(unevaluated).toEqual([]);
});

test('without a directory a rule on a group that may be in between is named, not guessed', () => {
  const policy = aPolicy({
    rules: [
      image('root', { match: { groups: [100] } }),
      image('own', { match: { groups: [104] } }),
      image('between', { match: { groups: [101] } }),
      image('spared', { match: { groups: [100], not: { groups: [101] } } }),
      image('watching', { mode: 'shadow', match: { groups: [101] } }),
    ],
  });
  const { violations, unevaluated } = evaluateStateless(job, { policy, nowMs: NOW_MS });
  expect(violations.map(({ rule }) => rule)).toEqual(['root', 'own']);
  expect(unevaluated).toEqual(['between', 'spared']);
  // What no rule has anything against passes, whether they match or not.
  expect(evaluateStateless({ ...job, image: 'good/a' }, { policy, nowMs: NOW_MS })).toEqual({
    violations: [],
    unevaluated: [],
  });
});

test('a field GitLab did not send is what the rule says it is, with or without a directory', () => {
  const policy = aPolicy({
    rules: [image('strict', { on_missing: 'reject', match: { groups: [101] } }), image('mild', {})],
  });
  for (const directory of [aDirectory, undefined]) {
    const { violations, unevaluated } = evaluateStateless(
      { jobId: 1 },
      { policy, directory: directory, nowMs: NOW_MS },
    );
    expect(violations.map(({ rule, reason }) => [rule, reason.code])).toEqual([['strict', 'FIELD_MISSING']]);
    expect(unevaluated).toEqual([]);
  }
});
