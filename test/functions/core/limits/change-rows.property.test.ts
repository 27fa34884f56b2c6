import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHoldAsk } from '../../../../functions/core/admission/judge.ts';
import { changeRows } from '../../../../functions/core/limits/change-rows.ts';
import { counterName } from '../../../../policies/claim.ts';
import { parseLimits } from '../../../../policies/document/parse-limits.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { evaluate } from '../../../../policies/evaluate.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const POLICY = aPolicy({
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'slots', kind: 'concurrency', mode: 'enforce' },
    { id: 'starts', kind: 'window', mode: 'enforce' },
  ],
});

const where = fc.constantFrom<object | string>(
  'instance',
  { group: 100 },
  { group: 101 },
  { group: 190 },
  { project: 1 },
);
const kind = fc.constantFrom('money', 'minutes', 'starts');
const amount = fc.constantFrom<number | string>(0, 1, 5, 100, 'unlimited');
const edge = fc.constantFrom('2026-11-20', '2026-11-21', '2026-11-22', '2026-12-24');
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });

const fields = fc.record(
  {
    per: fc.constantFrom('day', 'month', 'once'),
    id: maybe(fc.constantFrom('own', 'other')),
    zone: maybe(fc.constantFrom('Europe/Berlin', 'UTC', 'Pacific/Auckland')),
    fiscal_start: maybe(fc.constantFrom('04-06', '01-15')),
    soft: maybe(fc.constantFrom('80%', '50%')),
    grace: maybe(fc.constantFrom('10%', '20%')),
    mode: maybe(fc.constantFrom('shadow', 'warn', 'enforce', 'off')),
    from: maybe(edge),
    until: maybe(edge),
  },
  { requiredKeys: ['per'] },
);
const limit = fc.tuple(fields, kind, amount).map(([rest, unit, value]) => ({ ...rest, [unit]: value }));
const onSubject = fc.tuple(where, limit).map(([on, rest]) => ({ on, ...rest }));
const grant = fc.record({
  on: where,
  limit: fc.constantFrom('own', 'other', 'money-day', 'money-month'),
  amount: fc.constantFrom(1, 7),
  from: fc.constantFrom('2026-11-01', '2026-11-21'),
  until: fc.constantFrom('2026-11-21', '2026-11-30'),
  reason: fc.constant('r'),
});
const freeze = fc.record(
  {
    on: where,
    id: fc.constantFrom('f1', 'f2', 'f3'),
    from: maybe(edge),
    until: maybe(edge),
    zone: maybe(fc.constantFrom('Europe/Berlin', 'Pacific/Auckland')),
    reason: fc.constantFrom('r', 's'),
  },
  { requiredKeys: ['on', 'id', 'reason'] },
);
const glass = fc.record(
  {
    on: fc.constantFrom<object | string>('instance', { group: 101 }),
    id: fc.constantFrom('b1', 'b2', 'b3'),
    users: fc.constantFrom([7], [8], [7, 8]),
    protected: maybe(fc.constant(true)),
    jobs: fc.integer({ min: 1, max: 3 }),
    per: maybe(fc.constantFrom('hour', 'day', 'once')),
    from: fc.constantFrom('2026-11-20', '2026-11-21'),
    until: fc.constantFrom('2026-11-22', '2026-11-23'),
    reason: fc.constant('r'),
  },
  { requiredKeys: ['on', 'id', 'users', 'jobs', 'from', 'until', 'reason'] },
);
const rollout = fc.record({
  group: fc.constantFrom(100, 101, 104),
  cost: fc.constantFrom('off', 'shadow', 'warn', 'enforce'),
});
const pattern = fc
  .tuple(fc.constantFrom('acme/**', 'acme/pay*', 'acme'), limit)
  .map(([groups, rest]) => ({ groups, ...rest }));

/** What is written twice, or on what is not there, makes the document invalid: such a piece is left out. */
const pieces = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: onSubject.map((entry) => ['limits', entry] as const) },
    limit.map((entry) => ['personal_default', entry] as const),
    { weight: 2, arbitrary: pattern.map((entry) => ['group_defaults', entry] as const) },
    { weight: 2, arbitrary: grant.map((entry) => ['grants', entry] as const) },
    freeze.map((entry) => ['freezes', entry] as const),
    { weight: 2, arbitrary: glass.map((entry) => ['breakglass', entry] as const) },
    rollout.map((entry) => ['rollout', entry] as const),
  ),
  { maxLength: 8 },
);
type Piece = readonly [string, object];

const documentOf = (all: readonly Piece[]): Record<string, object[]> => {
  const document: Record<string, object[]> = {};
  for (const [list, entry] of all) document[list] = [...(document[list] ?? []), entry];
  return document;
};
const isValid = (all: readonly Piece[]): boolean => parseLimits(documentOf(all), '', POLICY, aDirectory).ok;
const validOf = (all: readonly Piece[]): LimitSet => {
  const kept: Piece[] = [];
  for (const piece of all) if (isValid([...kept, piece])) kept.push(piece);
  return someLimits(documentOf(kept), POLICY, aDirectory);
};

/** One piece taken out, put in, put elsewhere, written twice, or with one field as in another. */
const nearby = (
  all: readonly Piece[],
  other: readonly Piece[],
  how: number,
  at: number,
): readonly Piece[] => {
  const index = all.length === 0 ? 0 : at % all.length;
  const [piece, add] = [all[index], other[0]];
  const rest = all.filter((_, each) => each !== index);
  if (piece === undefined || how === 0) return add === undefined ? all : [...all, add];
  if (how === 1) return rest;
  if (how === 2) return [piece, ...rest];
  if (how === 3) return [...all, piece];
  const like = other.find(([list]) => list === piece[0]) ?? piece;
  const names = [...new Set([...Object.keys(piece[1]), ...Object.keys(like[1])])];
  const name = names[at % names.length] ?? '';
  const changed = { ...piece[1], [name]: (like[1] as Record<string, unknown>)[name] };
  return all.map((each, place) => (place === index ? [piece[0], changed] : each));
};

const JOBS: readonly AdmissionRequest[] = [
  { jobId: 1, projectId: 1, projectPath: 'acme/payments/cards/api', namespaceId: 104, rootNamespaceId: 100 },
  { jobId: 2, projectId: 9, projectPath: 'acme/platform/x', namespaceId: 102, rootNamespaceId: 100 },
  { jobId: 3, projectId: 8, projectPath: 'jane/y', namespaceId: 190, rootNamespaceId: 190 },
].map((job) => ({
  ...job,
  userId: 7,
  refProtected: true,
  pipelineId: 5,
  timeoutSeconds: 3600,
  variables: {},
}));

/** What is asked of the ledger, in no order: that of limits on a subject changes nothing but the order of sentences. */
function asked(limits: LimitSet): string {
  const using = { policy: POLICY, limits, directory: aDirectory, estimator: timeoutEstimator };
  const told = JOBS.flatMap((request) =>
    [NOW_MS, NOW_MS + 86_400_000].map((nowMs) => {
      const ask = toHoldAsk({ request, evaluation: evaluate(request, { ...using, nowMs }) });
      const of = (part: Pick<typeof ask, 'claims' | 'violations'> | undefined) => [
        ...(part?.violations ?? []).map((each) =>
          JSON.stringify([each.rule, each.mode, each.exempt, each.reason.code]),
        ),
        ...(part?.claims ?? []).map((claim) =>
          JSON.stringify([
            counterName(claim.counter),
            ...[claim.unit, claim.amount, claim.mode, claim.bound, claim.grace, claim.soft?.bound],
            claim.neverFits,
          ]),
        ),
      ];
      return [of(ask).toSorted(), of(ask.breakGlass).toSorted()];
    }),
  );
  return JSON.stringify(told);
}

test('limits that decide jobs otherwise differ in at least one row', () => {
  let differed = 0;
  fc.assert(
    fc.property(pieces, pieces, fc.nat({ max: 4 }), fc.nat({ max: 50 }), (all, other, how, at) => {
      const [from, to] = [validOf(all), validOf(nearby(all, other, how, at))];
      if (asked(from) === asked(to)) return;
      differed += 1;
      const between = { directory: aDirectory, nowMs: NOW_MS };
      expect(changeRows({ from, to, ...between })).not.toEqual([]);
      expect(changeRows({ from: to, to: from, ...between })).not.toEqual([]);
    }),
    { numRuns: propertyRuns(2_000) },
  );
  expect(differed).toBeGreaterThan(10);
});
