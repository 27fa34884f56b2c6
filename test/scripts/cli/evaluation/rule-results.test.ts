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
const BUDGET = { id: 'budgets', kind: 'budget', mode: 'enforce' };
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
  const documents = { policy, limits: someLimits(limits, policy), directory: aDirectory };
  return ruleResults({ ...REQUEST, ...request }, { ...documents, estimator: timeoutEstimator }, NOW_MS);
}

const NOWHERE = { projectId: undefined, projectPath: undefined };
const MATCHED = { outcome: { outcome: 'matched' } };
const notMatched = (condition: string, value: string) => ({
  outcome: { outcome: 'not matched', condition, value },
});

test.each<[string, object, object, object]>([
  ['a condition', images({ match: { groups: [102] } }), {}, notMatched('groups', 'acme/payments/cards')],
  [
    'an exception',
    images({ match: { groups: [100], not: { groups: [104] } } }),
    {},
    notMatched('not.groups', 'acme/payments/cards'),
  ],
  [
    'one of two conditions',
    images({ match: { refs: ['release/*'], jobs: ['unit'] } }),
    {},
    notMatched('refs', 'main'),
  ],
  [
    'a violation',
    images({}),
    {},
    { ...MATCHED, violations: [{ mode: 'enforce', reason: { code: 'IMAGE_NOT_ALLOWED' } }] },
  ],
  [
    'an absent field of a condition',
    images({ match: { users: [5] }, on_missing: 'skip' }),
    {},
    { outcome: { outcome: 'missing' }, missing: ['userId'], onMissing: 'skip' },
  ],
  [
    'an absent field of the check',
    images({ on_missing: 'reject' }),
    { image: undefined },
    { outcome: { outcome: 'missing' }, missing: ['image'] },
  ],
  [
    'an absent field of an exception',
    images({ match: { not: { users: [5] } } }),
    {},
    { ...MATCHED, missing: [], unproven: ['userId'], violations: [{ mode: 'enforce' }] },
  ],
  [
    'an exemption',
    images({ exempt: [{ groups: [104], reason: 'moves to alpine', until: '2026-12-31' }] }),
    {},
    {
      outcome: { outcome: 'exempt', reason: 'moves to alpine' },
      violations: [{ mode: 'shadow', exempt: true }],
    },
  ],
  ['off', images({ mode: 'off' }), {}, { outcome: { outcome: 'off' }, mode: 'off', violations: [] }],
  [
    'limits of a group that is not told',
    BUDGET,
    { ...NOWHERE, namespaceId: undefined, rootNamespaceId: undefined },
    { outcome: { outcome: 'missing' }, missing: ['namespaceId'] },
  ],
  [
    'a group that the directory does not know yet',
    images({ match: { groups: [101] } }),
    { ...NOWHERE, namespaceId: 999, rootNamespaceId: 998 },
    { ...MATCHED, unproven: ['namespaceId'], violations: [{}] },
  ],
])('a rule is told with what decides it: %s', (_, rule, request, result) => {
  expect(results([rule], request)).toMatchObject([result]);
});

test('the mode is the one in force, with the rollout of the group', () => {
  const [result] = results([BUDGET], {}, { limits: [], rollout: [{ group: 100, cost: 'warn' }] });
  expect(result?.mode).toBe('warn');
});

test('every rule is listed once, in the order of the document, and claims stand with the rule that asks', () => {
  const limits = { limits: [{ on: { group: 100 }, money: 5, per: 'month' }] };
  const rules = [{ ...BUDGET, id: 'watching', mode: 'shadow' }, { ...BUDGET, id: 'asking' }, images({})];
  expect(results(rules, {}, limits).map(({ id, askedBy, claims }) => [id, askedBy, claims.length])).toEqual([
    ['watching', 'asking', 0],
    ['asking', undefined, 1],
    ['images', undefined, 0],
  ]);
});
