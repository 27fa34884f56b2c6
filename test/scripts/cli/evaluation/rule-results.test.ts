import { expect, test } from 'vitest';
import { type RuleResult, ruleResults } from '../../../../functions/answers/job/rule-results.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';

const REQUEST: AdmissionRequest = {
  jobId: 1,
  jobName: 'unit',
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  namespaceId: 104,
  rootNamespaceId: 100,
  ref: 'main',
  image: 'node:24',
};

const images = (more: object): object => ({
  id: 'images',
  kind: 'image',
  mode: 'enforce',
  allow: ['alpine:*'],
  ...more,
});

function results(
  rules: readonly object[],
  request: object = {},
  limits: object = { limits: [] },
): readonly RuleResult[] {
  const policy = aPolicy({ rules });
  const documents = {
    policy,
    limits: someLimits(limits, policy),
    directory: aDirectory,
    estimator: timeoutEstimator,
  };
  return ruleResults({ ...REQUEST, ...request }, documents, NOW_MS);
}

const only = (...args: Parameters<typeof results>): RuleResult => {
  const [result] = results(...args);
  if (result === undefined) throw new Error('the policy has no rule');
  return result;
};

test.each([
  { match: { groups: [102] }, condition: 'groups', value: 'acme/payments/cards' },
  { match: { groups: [100], not: { groups: [104] } }, condition: 'not.groups', value: 'acme/payments/cards' },
  { match: { runner_classes: ['large'] }, condition: 'runner_classes', value: 'small' },
  { match: { refs: ['release/*'], jobs: ['unit'] }, condition: 'refs', value: 'main' },
  { match: { jobs: ['deploy*'], users: [5] }, condition: 'jobs', value: 'unit' },
])('a rule that does not match names the condition: $condition', ({ match, condition, value }) => {
  expect(only([images({ match })]).outcome).toEqual({ outcome: 'not matched', condition, value });
});

test('a rule with something against the job has matched and says what', () => {
  const result = only([images({})]);
  expect(result.outcome).toEqual({ outcome: 'matched' });
  expect(result.violations).toMatchObject([{ mode: 'enforce', reason: { code: 'IMAGE_NOT_ALLOWED' } }]);
});

test.each(['skip', 'admit', 'reject'])(
  'a field that is not there is named, also with on_missing %s',
  (on_missing) => {
    const result = only([images({ match: { users: [5] }, on_missing })]);
    expect(result).toMatchObject({
      outcome: { outcome: 'missing' },
      missing: ['userId'],
      onMissing: on_missing,
    });
    const lacking = only([images({ on_missing })], { image: undefined });
    expect(lacking).toMatchObject({ outcome: { outcome: 'missing' }, missing: ['image'] });
  },
);

test('a rule that matches may still leave somebody alone: the field that would tell is named', () => {
  expect(only([images({ match: { not: { users: [5] } } })])).toMatchObject({
    outcome: { outcome: 'matched' },
    missing: [],
    unproven: ['userId'],
    violations: [{ mode: 'enforce' }],
  });
});

test('an exempt job is told why', () => {
  const exempt = [{ groups: [104], reason: 'moves to alpine', until: '2026-12-31' }];
  expect(only([images({ exempt })])).toMatchObject({
    outcome: { outcome: 'exempt', reason: 'moves to alpine' },
    violations: [{ mode: 'shadow', exempt: true }],
  });
});

test('a rule that is off is listed as off', () => {
  expect(only([images({ mode: 'off' })])).toMatchObject({
    outcome: { outcome: 'off' },
    mode: 'off',
    violations: [],
  });
});

test('the mode is the one in force, with the rollout of the group', () => {
  const limits = { limits: [], rollout: [{ group: 100, cost: 'warn' }] };
  expect(only([{ id: 'budgets', kind: 'budget', mode: 'enforce' }], {}, limits).mode).toBe('warn');
});

test('every rule is listed once, in the order of the document, and claims stand with the rule that asks', () => {
  const limits = { limits: [{ on: { group: 100 }, money: 5, per: 'month' }] };
  const budgets = [
    { id: 'watching', kind: 'budget', mode: 'shadow' },
    { id: 'asking', kind: 'budget', mode: 'enforce' },
  ];
  const all = results([...budgets, images({})], {}, limits);
  expect(all.map(({ id, askedBy, claims }) => [id, askedBy, claims.length])).toEqual([
    ['watching', 'asking', 0],
    ['asking', undefined, 1],
    ['images', undefined, 0],
  ]);
});

test('without a group the limits of groups cannot be told', () => {
  const nowhere = {
    projectId: undefined,
    projectPath: undefined,
    namespaceId: undefined,
    rootNamespaceId: undefined,
  };
  const result = only([{ id: 'budgets', kind: 'budget', mode: 'enforce' }], nowhere);
  expect(result).toMatchObject({ outcome: { outcome: 'missing' }, missing: ['namespaceId'] });
});

test('a security rule does not wait for a group the directory does not know yet', () => {
  const result = only([images({ match: { groups: [101] } })], {
    projectId: undefined,
    namespaceId: 999,
    rootNamespaceId: 998,
  });
  expect(result).toMatchObject({
    outcome: { outcome: 'matched' },
    unproven: ['namespaceId'],
    violations: [{}],
  });
});
