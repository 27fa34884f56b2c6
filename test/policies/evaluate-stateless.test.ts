import { expect, test } from 'vitest';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import { aPolicy, NOW_MS } from './documents.ts';

const image = (id: string, parts: object): object => ({
  id,
  kind: 'image',
  mode: 'enforce',
  allow: ['good/**'],
  ...parts,
});
const job = { jobId: 1, namespaceId: 104, rootNamespaceId: 100, image: 'evil' };

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
