import fc from 'fast-check';
import { expect, test } from 'vitest';
import { counterName } from '../../policies/claim.ts';
import { type Evaluation, evaluate } from '../../policies/evaluate.ts';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
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
const base = { match, mode, on_missing: onMissing };
const rule = fc.oneof(
  fc.record({ kind: fc.constantFrom('budget', 'concurrency'), ...base }),
  fc.record({ kind: fc.constant('image'), allow: patterns, deny: patterns, ...base }),
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
  .tuple(subject, amount, mode, fc.constantFrom('money', 'minutes', 'jobs'))
  .map(([on, number, of, kind]) => ({
    on,
    [kind]: number,
    mode: of,
    ...(kind !== 'jobs' && { per: 'month' }),
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
  },
  { requiredKeys: ['jobId'] },
);
const situation = fc.record({ rules, limits, rollout, request });

const claimText = ({ claims }: Evaluation): readonly string[] =>
  claims.map((claim) =>
    JSON.stringify([counterName(claim.counter), claim.amount, claim.bound, claim.mode, claim.class]),
  );
const violationText = ({ violations }: Pick<Evaluation, 'violations'>): readonly string[] =>
  violations.map((violation) => JSON.stringify(violation));

test('raising a limit never adds a violation and never lowers a bound', () => {
  fc.assert(
    fc.property(situation, fc.nat(9), fc.integer({ min: 1, max: 50 }), (given, at, more) => {
      const policy = aPolicy({ rules: given.rules });
      const raised = given.limits.map((each, index) => {
        if (index !== at) return each;
        const add = (number: unknown): unknown => (typeof number === 'number' ? number + more : number);
        return {
          ...each,
          ...('money' in each && { money: add(each.money) }),
          ...('minutes' in each && { minutes: add(each.minutes) }),
          ...('jobs' in each && { jobs: add(each.jobs) }),
        };
      });
      const before = evaluate(
        given.request,
        using(policy, someLimits({ limits: given.limits, rollout: given.rollout }, policy)),
      );
      const after = evaluate(
        given.request,
        using(policy, someLimits({ limits: raised, rollout: given.rollout }, policy)),
      );
      const named = ({ violations }: Evaluation): readonly string[] =>
        violations.map(
          ({ rule, mode: how, reason }) =>
            `${rule} ${how} ${reason.code} ${'limit' in reason ? reason.limit : ''}`,
        );
      for (const violation of named(after)) expect(named(before)).toContain(violation);
      for (const claim of before.claims) {
        const same = after.claims.find((each) => counterName(each.counter) === counterName(claim.counter));
        expect(same?.bound).toBeGreaterThanOrEqual(claim.bound ?? 0);
      }
    }),
    { numRuns: 500 },
  );
});

test('the order of rules in the document changes neither the claims nor the set of violations', () => {
  fc.assert(
    fc.property(situation, fc.infiniteStream(fc.nat()), (given, dice) => {
      const shuffled = given.rules
        .map((each) => ({ each, place: dice.next().value ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ each }) => each);
      const evaluated = [given.rules, shuffled].map((list) => {
        const policy = aPolicy({ rules: list });
        return evaluate(
          given.request,
          using(policy, someLimits({ limits: given.limits, rollout: given.rollout }, policy)),
        );
      }) as [Evaluation, Evaluation];
      expect(claimText(evaluated[1])).toEqual(claimText(evaluated[0]));
      expect([...violationText(evaluated[1])].sort()).toEqual([...violationText(evaluated[0])].sort());
    }),
    { numRuns: 500 },
  );
});

test('without a rule in mode enforce nothing is asked or violated in mode enforce', () => {
  fc.assert(
    fc.property(situation, (given) => {
      const watching = given.rules.map((each) =>
        each.mode === 'enforce' ? { ...each, mode: 'warn' } : each,
      );
      const policy = aPolicy({ rules: watching });
      const { violations, claims } = evaluate(
        given.request,
        using(policy, someLimits({ limits: given.limits, rollout: given.rollout }, policy)),
      );
      expect([...violations, ...claims].filter((each) => each.mode === 'enforce')).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('each counter is asked once, with an amount above 0 and within its bound', () => {
  fc.assert(
    fc.property(situation, (given) => {
      const policy = aPolicy({ rules: given.rules });
      const { claims } = evaluate(
        given.request,
        using(policy, someLimits({ limits: given.limits, rollout: given.rollout }, policy)),
      );
      const names = claims.map(({ counter }) => counterName(counter));
      expect(new Set(names).size).toBe(names.length);
      for (const { amount: asked, bound = 0 } of claims) {
        expect(asked).toBeGreaterThan(0);
        expect(asked).toBeLessThanOrEqual(bound);
      }
    }),
    { numRuns: 500 },
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
    { numRuns: 500 },
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
      const decided = sure.violations.filter(
        ({ rule: id, mode: how }) => how === 'enforce' && !alone.unevaluated.includes(id),
      );
      expect(
        alone.violations.filter((each) => each.mode === 'enforce').map((each) => JSON.stringify(each)),
      ).toEqual(decided.map((each) => JSON.stringify(each)));
    }),
    { numRuns: 500 },
  );
});
