import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkedJobOf } from '../../policies/job.ts';
import { matchOf } from '../../policies/match/match.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { candidateRules } from '../../policies/rule-index.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { aDirectory, aPolicy, NOW_MS } from './documents.ts';

const group = fc.constantFrom(100, 101, 102, 104, 190);
const few = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { minLength: 1, maxLength: 2 });
const conditions = fc.record(
  {
    groups: few(fc.oneof(group, fc.record({ id: group, subtree: fc.boolean() }), fc.constant('acme/**'))),
    projects: few(fc.oneof(fc.constantFrom(1, 2), fc.constant('**/api'))),
    runner_classes: few(fc.constantFrom('large', 'free', 'small', 'none')),
    users: few(fc.constantFrom(5, 6)),
    runner_ids: few(fc.constantFrom(41, 42)),
    protected: fc.boolean(),
  },
  { requiredKeys: [] },
);
const rules = fc.array(fc.record({ match: conditions, mode: fc.constantFrom('off', 'enforce') }), {
  maxLength: 12,
});
const request: fc.Arbitrary<AdmissionRequest> = fc.record(
  {
    jobId: fc.constant(1),
    namespaceId: fc.constantFrom(100, 101, 104, 190, 999),
    rootNamespaceId: fc.constantFrom(100, 190),
    projectId: fc.constantFrom(1, 2),
    userId: fc.constantFrom(5, 6),
    runnerId: fc.constantFrom(41, 42),
    runnerTags: fc.subarray(['large', 'free', 'other']),
  },
  { requiredKeys: ['jobId'] },
);

test('the index leaves out no rule that matches or might, and names each once in document order', () => {
  fc.assert(
    fc.property(rules, request, (list, asked) => {
      const policy = aPolicy({
        rules: list.map((each, at) => ({ id: `r${at}`, kind: 'budget', ...each })),
      });
      const job = checkedJobOf(asked, { policy, directory: aDirectory, nowMs: NOW_MS });
      const found = candidateRules(policy.ruleIndex, job);
      const wanted = policy.rules.filter(
        (rule) => rule.mode !== 'off' && matchOf(rule.match, job).matches !== false,
      );
      for (const rule of wanted) expect(found).toContain(rule);
      expect(found.map(({ order }) => order)).toEqual(
        [...new Set(found.map(({ order }) => order))].sort((a, b) => a - b),
      );
    }),
    { numRuns: propertyRuns(2000) },
  );
});

test('a job is not asked about the rules of other groups, projects, users, runners and classes', () => {
  const policy = aPolicy({
    rules: [
      { projects: [2] },
      { users: [6] },
      { runner_ids: [42] },
      { groups: [190] },
      { runner_classes: ['free'] },
      {},
    ].map((match, at) => ({ id: `r${at}`, kind: 'budget', mode: 'enforce', match })),
  });
  const asked = { jobId: 1, namespaceId: 104, rootNamespaceId: 100, projectId: 1, userId: 5, runnerId: 41 };
  const job = checkedJobOf(asked, { policy, directory: aDirectory, nowMs: NOW_MS });
  expect(candidateRules(policy.ruleIndex, job).map(({ id }) => id)).toEqual(['r5']);
});
