import fc from 'fast-check';
import { expect, test } from 'vitest';
import { counterName } from '../../policies/claim.ts';
import { type Evaluation, evaluate } from '../../policies/evaluate.ts';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { ruleIndexOf } from '../../policies/rule-index.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits, using } from './documents.ts';

const mode = fc.constantFrom('off', 'shadow', 'warn', 'enforce');
const groupId = fc.constantFrom(100, 101, 102, 104, 190);
const onMissing = fc.constantFrom('skip', 'admit', 'reject');

const conditions = fc.record(
  {
    groups: fc.array(
      fc.oneof(
        groupId,
        fc.record({ id: groupId, subtree: fc.boolean() }),
        fc.constantFrom('acme/**', '*/platform', 'jane'),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    projects: fc.array(fc.oneof(fc.constantFrom(1, 2), fc.constantFrom('acme/**/api', 'jane/*')), {
      minLength: 1,
      maxLength: 2,
    }),
    runner_classes: fc.array(fc.constantFrom('large', 'free', 'small'), { minLength: 1, maxLength: 2 }),
    users: fc.constantFrom([5], [6]),
    protected: fc.boolean(),
    refs: fc.constantFrom(['main'], ['release/*']),
  },
  { requiredKeys: [] },
);
const match = fc
  .tuple(conditions, fc.option(conditions, { nil: undefined }))
  .map(([is, not]) => ({ ...is, ...(not && { not }) }));

const patterns = fc.array(fc.constantFrom('alpine:*', '**', 'registry/**', '*:latest'), {
  minLength: 1,
  maxLength: 2,
});
const exempt = fc.array(
  conditions
    .filter((each) => Object.keys(each).length > 0)
    .map((each) => ({ ...each, reason: 'r', until: 'never' })),
  { maxLength: 2 },
);
const base = {
  match,
  mode,
  on_missing: onMissing,
  on_error: fc.constantFrom('open', 'closed'),
  exempt,
};
const stateless = <Parts extends object>(kind: string, parts: fc.Arbitrary<Parts>) =>
  fc.tuple(fc.record(base), parts).map(([common, own]) => ({ kind, ...common, ...own }));
const rule = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('budget', 'concurrency', 'capacity', 'window'), ...base }),
  },
  { weight: 3, arbitrary: stateless('image', fc.record({ allow: patterns, deny: patterns })) },
  {
    weight: 1,
    arbitrary: stateless('services', fc.record({ max: fc.nat(2), docker_in_docker: fc.constant(false) })),
  },
  { weight: 1, arbitrary: stateless('pull-policy', fc.constant({ allow: ['always'] })) },
  {
    weight: 1,
    arbitrary: stateless('resources', fc.constant({ build: { cpu: 2 }, job: { memory: '4Gi' } })),
  },
  { weight: 1, arbitrary: stateless('overwrites', fc.constant({ namespace: '^ci-', others: 'deny' })) },
  { weight: 1, arbitrary: stateless('container-user', fc.constant({ users: ['1000'] })) },
  {
    weight: 1,
    arbitrary: stateless('variables', fc.constant({ require: ['TEAM'], allow: { TEAM: ['a*'] } })),
  },
  { weight: 1, arbitrary: stateless('timeout', fc.constantFrom({ max: '1h' }, { max: '10m' })) },
  {
    weight: 1,
    arbitrary: stateless(
      'runner-access',
      fc.constant({ runner_classes: ['large'], allow: [{ groups: [101], protected: true }, { users: [5] }] }),
    ),
  },
  { weight: 1, arbitrary: stateless('freeze', fc.constantFrom({}, { windows: [{ from: '2027-01-01' }] })) },
);
const rules = fc
  .array(rule, { maxLength: 8 })
  .map((list) => list.map((each, at) => ({ id: `r${at}`, ...each })));

const subject = fc.oneof(
  fc.constant('instance'),
  groupId.map((group) => ({ group })),
  fc.constantFrom(1, 2).map((project) => ({ project })),
  fc.constantFrom('large', 'small').map((runner_class) => ({ runner_class })),
  fc.constant({ user: 5 }),
);
const amount = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant('unlimited'));
const limit = fc
  .tuple(subject, amount, mode, fc.constantFrom('money', 'minutes', 'jobs', 'starts', 'cpu'))
  .map(([on, number, of, kind]) => ({
    on,
    [kind]: number,
    mode: of,
    ...(kind !== 'jobs' && kind !== 'cpu' && { per: 'month' }),
  }));
const limits = fc
  .array(limit, { maxLength: 10 })
  .map((list) => list.map((each, at) => ({ id: `l${at}`, ...each })));
const rollout = fc.uniqueArray(fc.record({ group: groupId, cost: mode, capacity: mode }), {
  selector: ({ group }) => group,
  maxLength: 3,
});

const request: fc.Arbitrary<AdmissionRequest> = fc.record(
  {
    jobId: fc.constant(1),
    namespaceId: fc.constantFrom(100, 101, 102, 104, 190, 999),
    rootNamespaceId: fc.constantFrom(100, 190),
    projectId: fc.constantFrom(1, 2),
    projectPath: fc.constantFrom('acme/payments/cards/api', 'jane/x'),
    userId: fc.constantFrom(5, 6),
    runnerTags: fc.subarray(['large', 'free']),
    image: fc.constantFrom('alpine:3', 'registry/a:latest', 'evil'),
    services: fc.array(fc.record({ name: fc.constantFrom('alpine:3', 'x:latest') }), { maxLength: 2 }),
    suspicious: fc.subarray(['projectId', 'namespaceId', 'userId']),
    ref: fc.constantFrom('main', 'release/1'),
    refProtected: fc.boolean(),
    pullPolicies: fc.subarray(['always', 'never']),
    kubernetesUser: fc.constantFrom('0', '1000'),
    timeoutSeconds: fc.constantFrom(0, 600, 7_200),
    variables: fc.constantFrom(
      {},
      { TEAM: 'api' },
      { KUBERNETES_CPU_REQUEST: '4', KUBERNETES_NAMESPACE_OVERWRITE: 'prod' },
    ),
    hiddenVariables: fc.subarray(['TEAM']),
  },
  { requiredKeys: ['jobId'] },
);
const situation = fc.record({ rules, limits, rollout, request });

const claimText = ({ claims }: Pick<Evaluation, 'claims'>): readonly string[] =>
  claims.map((claim) =>
    JSON.stringify([counterName(claim.counter), claim.amount, claim.bound, claim.mode, claim.class]),
  );
const violationText = ({ violations }: Pick<Evaluation, 'violations'>): readonly string[] =>
  violations.map((violation) => JSON.stringify(violation));

type Situation = typeof situation extends fc.Arbitrary<infer Given> ? Given : never;

function evaluated(given: Situation, over: { readonly rules?: object; readonly limits?: object } = {}) {
  const policy = aPolicy({ rules: over.rules ?? given.rules });
  const set = someLimits({ limits: over.limits ?? given.limits, rollout: given.rollout }, policy);
  return evaluate(given.request, using(policy, set));
}

test('raising a limit never adds a violation and never lowers a bound', () => {
  fc.assert(
    fc.property(situation, fc.nat(9), fc.integer({ min: 1, max: 50 }), (given, at, more) => {
      const isRaised = (key: string, value: unknown): value is number =>
        typeof value === 'number' && ['money', 'minutes', 'jobs', 'starts', 'cpu'].includes(key);
      const raised = given.limits.map((each, index) =>
        Object.fromEntries(
          Object.entries(each).map(([key, value]) => [
            key,
            index === at && isRaised(key, value) ? value + more : value,
          ]),
        ),
      );
      const [before, after] = [evaluated(given), evaluated(given, { limits: raised })];
      const named = ({ violations }: Evaluation): readonly string[] =>
        violations.map(
          ({ rule, mode: how, reason }) =>
            `${rule} ${how} ${reason.code} ${'limit' in reason ? reason.limit : ''}`,
        );
      for (const violation of named(after)) expect(named(before)).toContain(violation);
      for (const claim of before.claims) {
        const same = after.claims.find((each) => counterName(each.counter) === counterName(claim.counter));
        // No bound is the widest.
        expect(same?.bound ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(claim.bound ?? 0);
        expect(same).toBeDefined();
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('each counter is asked once within its bound, the order of rules changes nothing, and only rules in mode enforce reject', () => {
  fc.assert(
    fc.property(situation, fc.infiniteStream(fc.nat()), (given, dice) => {
      const { claims, violations } = evaluated(given);
      const names = claims.map(({ counter }) => counterName(counter));
      expect(new Set(names).size).toBe(names.length);
      for (const { amount: asked, bound = Number.POSITIVE_INFINITY } of claims) {
        expect(asked).toBeGreaterThan(0);
        expect(asked).toBeLessThanOrEqual(bound);
      }
      const shuffled = given.rules
        .map((each) => ({ each, place: dice.next().value ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ each }) => each);
      const other = evaluated(given, { rules: shuffled });
      expect(claimText(other)).toEqual(claimText({ claims }));
      expect(violationText(other).toSorted()).toEqual(violationText({ violations }).toSorted());
      const watching = given.rules.map((each) =>
        each.mode === 'enforce' ? { ...each, mode: 'warn' } : each,
      );
      const mild = evaluated(given, { rules: watching });
      expect([...mild.violations, ...mild.claims].filter((each) => each.mode === 'enforce')).toEqual([]);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('the relay by itself finds the same violations of stateless rules as the function, with the same directory', () => {
  fc.assert(
    fc.property(situation, (given) => {
      const policy = aPolicy({ rules: given.rules });
      const whole = evaluate(
        given.request,
        using(policy, someLimits({ rollout: given.rollout }, policy), { nowMs: NOW_MS }),
      );
      const alone = evaluateStateless(given.request, { policy, directory: aDirectory, nowMs: NOW_MS });
      expect(violationText(alone)).toEqual(
        violationText({
          violations: whole.violations.filter(
            (each) => policy.rules.find((rule) => rule.id === each.rule)?.stateless === true,
          ),
        }),
      );
      expect(alone.unevaluated).toEqual([]);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('the relay without a directory names every rule it is not sure of, and is right about the others', () => {
  fc.assert(
    fc.property(situation, (given) => {
      const { projectPath, ...rest } = given.request;
      const path = projectPath === undefined ? {} : { projectPath: 'acme/payments/cards/api' };
      const known = {
        ...rest,
        ...path,
        projectId: 1,
        namespaceId: 104,
        rootNamespaceId: 100,
        suspicious: [],
      };
      const policy = aPolicy({ rules: given.rules });
      const sure = evaluateStateless(known, { policy, directory: aDirectory, nowMs: NOW_MS });
      const alone = evaluateStateless(known, { policy, nowMs: NOW_MS });
      const told = (violations: Evaluation['violations']): readonly string[] =>
        violations
          .filter(({ rule: id, mode: how }) => how === 'enforce' && !alone.unevaluated.includes(id))
          // How people call a group is not part of the decision.
          .map(({ rule: id, reason }) => `${id} ${reason.code}`);
      expect(told(alone.violations)).toEqual(told(sure.violations));
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('one more exemption never adds a rejection, never asks more, and takes no job out of the books', () => {
  fc.assert(
    fc.property(situation, fc.nat(9), conditions, (given, at, whom) => {
      fc.pre(Object.keys(whom).length > 0);
      const spared = given.rules.map((each, index) =>
        index === at ? { ...each, exempt: [...each.exempt, { ...whom, reason: 'r', until: 'never' }] } : each,
      );
      const [before, after] = [given.rules, spared].map((list) => {
        const policy = aPolicy({ rules: list });
        return evaluate(given.request, using(policy, someLimits({ limits: given.limits }, policy)));
      }) as [Evaluation, Evaluation];
      const enforced = ({ violations }: Evaluation): readonly string[] =>
        violations.filter((each) => each.mode === 'enforce').map((each) => JSON.stringify(each));
      for (const violation of enforced(after)) expect(enforced(before)).toContain(violation);
      for (const claim of after.claims) {
        const same = before.claims.find((each) => counterName(each.counter) === counterName(claim.counter));
        // A claim that came with the exemption was a violation before, and asks nothing now.
        if (same === undefined) expect(claim.bound).toBeUndefined();
        else if (claim.bound !== undefined && claim.mode === 'enforce')
          expect([same.bound, same.mode]).toEqual([claim.bound, 'enforce']);
      }
      for (const claim of before.claims)
        expect(after.claims.map((each) => counterName(each.counter))).toContain(counterName(claim.counter));
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

test('a rule that only watches rejects nobody, also when it throws, in the function and in the relay', () => {
  fc.assert(
    fc.property(situation, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (given, throwing) => {
      const parsed = aPolicy({ rules: given.rules });
      const broken = parsed.rules.map((each, index) =>
        throwing[index] === true && each.stateless
          ? {
              ...each,
              check: () => {
                throw new RangeError('broken');
              },
            }
          : each,
      );
      const policy = { ...parsed, rules: broken, ruleIndex: ruleIndexOf(broken) };
      const whole = evaluate(
        given.request,
        using(policy, someLimits({ limits: given.limits, rollout: given.rollout }, policy)),
      );
      const alone = evaluateStateless(given.request, { policy, directory: aDirectory, nowMs: NOW_MS });
      const rejecting = [...whole.violations, ...alone.violations].filter((each) => each.mode === 'enforce');
      for (const { rule: id } of rejecting)
        expect(policy.rules.find((each) => each.id === id)?.mode).toBe('enforce');
      for (const id of alone.unevaluated)
        expect(policy.rules.find((each) => each.id === id)?.mode).toBe('enforce');
    }),
    { numRuns: propertyRuns(500) },
  );
});
