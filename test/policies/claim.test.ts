import { expect, test } from 'vitest';
import { spansRoots } from '../../policies/claim.ts';

test.each([
  ['instance', true],
  ['runner-class/large', true],
  ['runner/41', true],
  ['user/5', true],
  ['group/101', false],
  ['project/1001', false],
  ['pipeline/8000000', false],
])('jobs of several root groups may claim a counter on %s: %s', (subject, shared) => {
  expect(spansRoots({ subject, limit: 'jobs-now', period: 'now' })).toBe(shared);
});
