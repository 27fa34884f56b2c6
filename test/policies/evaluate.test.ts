import { expect, test } from 'vitest';
import type { JobFacts } from '../../functions/core/ledger/ledger.ts';
import { counterName } from '../../policies/claim.ts';
import { type Evaluation, evaluate } from '../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { aPolicy, someLimits, using } from './documents.ts';

const request: AdmissionRequest = {
  jobId: 7,
  jobName: 'e2e',
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  namespaceId: 104,
  rootNamespaceId: 100,
  userId: 5,
  runnerTags: ['large'],
  timeoutSeconds: 3_600,
  image: 'alpine:3',
};

const claimsOf = ({ claims }: Evaluation): readonly string[] =>
  claims.map((claim) => `${counterName(claim.counter)} ${claim.amount}/${claim.bound} ${claim.mode}`);
const violationsOf = ({ violations }: Evaluation): readonly string[] =>
  violations.map(({ rule, mode, reason }) => `${rule} ${mode} ${reason.code}`);

const everywhere = [
  { on: { user: 5 }, jobs: 3 },
  { on: { runner_class: 'large' }, jobs: 4 },
  { on: { project: 1 }, minutes: 100, per: 'day' },
  { on: { group: 104 }, money: 10, per: 'month' },
  { on: { group: 101 }, money: 100, per: 'week' },
  { on: { group: 100 }, money: 1000, per: 'month', zone: 'Pacific/Kiritimati' },
  { on: { group: 100 }, jobs: 50 },
  { on: 'instance', jobs: 500 },
  { on: { group: 102 }, jobs: 1 },
];

test('every level on the way to the job is asked, from the instance down, each counter once', () => {
  expect(claimsOf(evaluate(request, using(aPolicy(), someLimits({ limits: everywhere }))))).toEqual([
    'instance|jobs-now|now 1/500 enforce',
    'group/100|money-month|2026-11 6000000/1000000000 enforce',
    'group/100|jobs-now|now 1/50 enforce',
    'group/101|money-week|2026-W47 6000000/100000000 enforce',
    'group/104|money-month|2026-11 6000000/10000000 enforce',
    'project/1|minutes-day|2026-11-21 600/6000 enforce',
    'runner-class/large|jobs-now|now 1/4 enforce',
    'user/5|jobs-now|now 1/3 enforce',
  ]);
});

test('terms and facts tell what the job was taken to cost, in the shape of the ledger', () => {
  const { terms, facts, unknownGroup } = evaluate(request, using(aPolicy(), someLimits({})));
  const jobFacts: JobFacts = facts;
  expect(jobFacts).toEqual({
    jobName: 'e2e',
    projectId: 1,
    groupIds: [100, 101, 104],
    projectPath: 'acme/payments/cards/api',
    rootId: 100,
    groupId: 104,
    userId: 5,
    runnerClass: 'large',
    estimateSeconds: 600,
    costMicros: 6_000_000,
    microsPerMinute: 600_000,
    priceVersion: '1',
    policyVersion: 'policy-1',
    timeoutSeconds: 3_600,
    asked: { image: 'alpine:3', runnerTags: ['large'] },
  });
  expect(terms).toEqual({
    runnerClass: 'large',
    estimateSeconds: 600,
    costMicros: 6_000_000,
    currency: 'EUR',
    group: 'acme/payments/cards',
  });
  expect(unknownGroup).toBe(false);
});

test.each([
  [{ on: { group: 101 }, money: 0, per: 'month' }, 'budgets enforce EXCEEDS_LIMIT_ALONE'],
  [{ on: { group: 101 }, money: '5.999999', per: 'month' }, 'budgets enforce EXCEEDS_LIMIT_ALONE'],
  [{ on: { group: 101 }, money: 0, per: 'month', mode: 'shadow' }, 'budgets shadow EXCEEDS_LIMIT_ALONE'],
])('%j: a violation at once, and a claim that asks nothing', (limit, violation) => {
  const evaluation = evaluate(
    { ...request, runnerTags: ['large'] },
    using(aPolicy(), someLimits({ limits: [limit] })),
  );
  expect(violationsOf(evaluation)).toEqual([violation]);
  expect(evaluation.claims.every((claim) => claim.neverFits === true && claim.bound === undefined)).toBe(
    true,
  );
  expect(evaluation.claims).toHaveLength(1);
});

test.each([
  ['a job exactly as large as the limit', { on: { group: 101 }, money: 6, per: 'month' }, ['large'], 1],
  ['unlimited', { on: { group: 101 }, money: 'unlimited', per: 'month' }, ['large'], 0],
  ['mode off', { on: { group: 101 }, money: 0, per: 'month', mode: 'off' }, ['large'], 0],
  ['a free job and its minutes', { on: { group: 101 }, minutes: 50, per: 'month' }, ['free'], 1],
])('%s violates nothing', (_, limit, runnerTags, claims) => {
  const evaluation = evaluate({ ...request, runnerTags }, using(aPolicy(), someLimits({ limits: [limit] })));
  expect([evaluation.violations, evaluation.claims.length]).toEqual([[], claims]);
});

test.each<[string, string, object[], string, string | undefined]>([
  ['enforce', 'enforce', [], 'enforce', 'nothing holds it back'],
  ['shadow', 'enforce', [], 'shadow', "the rule's mode bounds the limit"],
  ['enforce', 'warn', [], 'warn', "the limit's mode bounds the rule"],
  [
    'enforce',
    'enforce',
    [
      { group: 100, cost: 'shadow' },
      { group: 101, cost: 'enforce' },
    ],
    'enforce',
    'the closest group decides',
  ],
  ['enforce', 'enforce', [{ group: 102, cost: 'off' }], 'enforce', "another group's rollout is not ours"],
])('rule %s, limit %s, rollout %j is mode %s: %s', (ruleMode, limitMode, rollout, effective) => {
  const policy = aPolicy({ rules: [{ id: 'b', kind: 'budget', mode: ruleMode }] });
  const limits = someLimits({
    limits: [{ on: { group: 104 }, money: 50, per: 'month', mode: limitMode }],
    rollout,
  });
  expect(evaluate(request, using(policy, limits)).claims.map(({ mode }) => mode)).toEqual([effective]);
});

test('a rollout weakens no rule that needs no counter, whatever its class', () => {
  const policy = aPolicy({
    rules: [
      { id: 'images', kind: 'image', mode: 'enforce', deny: ['alpine:*'] },
      { id: 'thrift', kind: 'image', class: 'cost', mode: 'enforce', deny: ['alpine:*'] },
    ],
  });
  const limits = someLimits({ rollout: [{ group: 100, cost: 'off', capacity: 'off' }] });
  expect(violationsOf(evaluate(request, using(policy, limits)))).toEqual([
    'images enforce IMAGE_NOT_ALLOWED',
    'thrift enforce IMAGE_NOT_ALLOWED',
  ]);
});

test('a group the directory does not know yet goes past no security rule, and an exemption has to be certain', () => {
  const rules = [
    { id: 'below', kind: 'image', mode: 'enforce', deny: ['**'], match: { groups: [101] } },
    { id: 'thrift', kind: 'image', class: 'cost', mode: 'enforce', deny: ['**'], match: { groups: [101] } },
    {
      id: 'spared',
      kind: 'image',
      mode: 'enforce',
      deny: ['**'],
      match: { groups: [100], not: { groups: [101] } },
    },
  ];
  const rejecting = (namespaceId: number): readonly string[] =>
    evaluate({ ...request, namespaceId }, using(aPolicy({ rules }), someLimits({}))).violations.map(
      ({ rule }) => rule,
    );
  expect(rejecting(104)).toEqual(['below', 'thrift']);
  expect(rejecting(102)).toEqual(['spared']);
  expect(rejecting(999)).toEqual(['below', 'spared']);
});

test.each([
  ['skip', []],
  ['admit', ['r shadow FIELD_MISSING']],
  ['reject', ['r enforce FIELD_MISSING']],
])('on_missing %s: %j', (on_missing, violations) => {
  const bare = { jobId: 7 };
  const ask = (rule: object): readonly string[] =>
    violationsOf(
      evaluate(
        bare,
        using(aPolicy({ rules: [{ id: 'r', mode: 'enforce', on_missing, ...rule }] }), someLimits({})),
      ),
    );
  expect(ask({ kind: 'image', allow: ['a'] })).toEqual(violations);
  expect(ask({ kind: 'image', allow: ['a'], match: { groups: [101] } })).toEqual(violations);
  expect(ask({ kind: 'image', allow: ['a'], match: { not: { projects: [1] } } })).toEqual(violations);
  expect(ask({ kind: 'budget' })).toEqual(violations);
});

/** A limit set as no parser would make it: reading the period throws. */
const broken = (mode = 'enforce') => {
  const limits = someLimits({
    limits: [
      { on: { group: 100 }, money: 50, per: 'month', mode },
      { on: { group: 101 }, jobs: 5 },
    ],
  });
  const spoilt = limits.bySubject.get('group/100')?.map((limit) => ({ ...limit, zone: 'No/Where' })) ?? [];
  return { ...limits, bySubject: new Map([...limits.bySubject, ['group/100', spoilt]]) };
};

test.each([
  ['open', 'enforce', 'enforce', []],
  ['closed', 'enforce', 'enforce', ['r enforce CONTROLLER_ERROR']],
  ['closed', 'shadow', 'enforce', ['r shadow CONTROLLER_ERROR']],
  ['closed', 'enforce', 'shadow', ['r shadow CONTROLLER_ERROR']],
])(
  'a rule that fails, on_error %s in mode %s on a limit in mode %s: %j',
  (on_error, mode, limitMode, violations) => {
    const rules = [
      { id: 'r', kind: 'budget', mode, on_error },
      { id: 's', kind: 'concurrency', mode: 'enforce' },
    ];
    const evaluation = evaluate(request, using(aPolicy({ rules }), broken(limitMode)));
    expect(violationsOf(evaluation)).toEqual(violations);
    expect(evaluation.errors).toEqual([{ rule: 'r', cause: 'RangeError' }]);
    expect(claimsOf(evaluation)).toEqual(['group/101|jobs-now|now 1/5 enforce']);
  },
);

test('a public project discloses nothing, a closer group decides before the one above', () => {
  const policy = aPolicy({
    disclose: {
      default: 'binding',
      groups: [
        { group: 100, levels: 'none' },
        { group: 101, levels: 'all' },
      ],
    },
  });
  const disclosed = (more: Partial<AdmissionRequest>): string =>
    disclosureFor(
      evaluate({ ...request, ...more }, using(policy, someLimits({}))).placement,
      policy.disclose,
    );
  expect(disclosed({})).toBe('all');
  expect(disclosed({ projectVisibility: 'public' })).toBe('none');
  expect(disclosed({ namespaceId: 102, projectId: 5 })).toBe('none');
  expect(disclosed({ namespaceId: 190, rootNamespaceId: 190, projectId: 5 })).toBe('binding');
});

test('a limit in a cohort asks what its group keeps, what all members lend and what they own, and a milder rule none', () => {
  const limits = someLimits({
    limits: [
      { on: { group: 101 }, jobs: 10, cohort: 'ci', borrow: '50%', lend: 4 },
      { on: { group: 102 }, jobs: 8, cohort: 'ci' },
      { on: { group: 100 }, jobs: 3, cohort: 'other' },
      { on: { group: 103 }, jobs: 9, cohort: 'ci', mode: 'shadow' },
      { on: { group: 105 }, jobs: 9, cohort: 'ci', until: '2026-11-01' },
    ],
  });
  const found = evaluate(request, using(aPolicy(), limits));
  expect(claimsOf(found)).toEqual([
    'group/100|jobs-now|now 1/3 enforce',
    'group/101|jobs-now|now 1/15 enforce',
    'cohort/other|jobs|now 1/3 enforce',
    'cohort/ci|jobs:group/101:jobs-now|now 1/6 enforce',
    'cohort/ci|jobs:lent|now 1/12 enforce',
    'cohort/ci|jobs|now 1/18 enforce',
  ]);
  expect(found.claims[1]).toMatchObject({ own: 10 });
  expect(found.claims[1]?.refusal({ committed: 15, settled: 0 })).toMatchObject({
    limitAmount: 10,
    borrow: 5,
  });
  const milder = aPolicy({ rules: [{ id: 'slots', kind: 'concurrency', mode: 'warn' }] });
  expect(claimsOf(evaluate(request, using(milder, limits)))).toEqual([
    'group/100|jobs-now|now 1/3 warn',
    'group/101|jobs-now|now 1/10 warn',
  ]);
});
