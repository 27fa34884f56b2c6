import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aPolicy, someLimits, using } from '../documents.ts';

const request: AdmissionRequest = {
  jobId: 1,
  projectId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  userId: 5,
  refProtected: true,
};
const freeze = { on: { group: 101 }, reason: 'year end', owner: 'finance', until: '2026-11-30' };
const glass = {
  on: { group: 101 },
  id: 'b-1',
  users: [5],
  jobs: 3,
  from: '2026-11-21',
  until: '2026-11-22',
  reason: 'outage',
};

const evaluated = (
  document: object,
  asked: Partial<AdmissionRequest> = {},
  more: object = {},
  policy = aPolicy(),
) => evaluate({ ...request, ...asked }, using(policy, someLimits(document, policy), more));

test('a frozen group starts nothing, at any depth, and says why, until when and whose wish it is', () => {
  expect(evaluated({ freezes: [freeze] }).violations).toEqual([
    {
      rule: 'freezes',
      class: 'capacity',
      mode: 'enforce',
      reason: {
        code: 'GROUP_FROZEN',
        frozenLabel: 'group acme/payments',
        untilMs: Date.UTC(2026, 11, 1),
        zone: 'UTC',
        why: 'year end',
        owner: 'finance',
      },
    },
  ]);
  expect(evaluated({ freezes: [freeze] }, { namespaceId: 102, projectId: 9 }).violations).toEqual([]);
});

test('with the glass broken no limit and no freeze asks; the job counts in all of them, and against its cap', () => {
  const { breakGlass, violations } = evaluated({
    limits: [
      { on: { group: 100 }, money: 0, per: 'month' },
      { on: { group: 101 }, jobs: 2 },
    ],
    freezes: [freeze],
    breakglass: [glass],
  });
  expect(violations.filter(({ mode }) => mode === 'enforce')).toHaveLength(2);
  expect(breakGlass?.violations).toEqual([
    {
      rule: 'break-glass',
      class: 'cost',
      mode: 'warn',
      reason: { code: 'BREAK_GLASS', breakGlass: 'b-1', why: 'outage' },
      exempt: true,
    },
  ]);
  expect(breakGlass?.claims.map(({ counter, bound }) => [counter.subject, counter.period, bound])).toEqual([
    ['group/100', '2026-11', undefined],
    ['group/101', 'now', undefined],
    ['break-glass/b-1', '2026-11-22', 3],
  ]);
});

test.each<[string, object, Partial<AdmissionRequest>, boolean]>([
  ['a named person', {}, {}, true],
  ['somebody else', {}, { userId: 6 }, false],
  ['nobody known', {}, { userId: undefined } as object, false],
  ['a protected ref', { users: undefined, protected: true }, {}, true],
  ['another ref', { users: undefined, protected: true }, { refProtected: false }, false],
  [
    'a named person on another ref, where both must hold',
    { protected: true },
    { refProtected: false },
    false,
  ],
  ['another group', { on: { group: 102 } }, {}, false],
  ['its project', { on: { project: 1 } }, {}, true],
])('who passes by break-glass: %s', (_, over, asked, passes) => {
  const { users, ...rest } = { ...glass, ...over } as typeof glass;
  const entry = users === undefined ? rest : { ...rest, users };
  expect(evaluated({ breakglass: [entry] }, asked).breakGlass !== undefined).toBe(passes);
});

test('no break-glass opens a rule of the policy', () => {
  const policy = aPolicy({
    rules: [
      { id: 'budgets', kind: 'budget', mode: 'enforce' },
      { id: 'images', kind: 'image', mode: 'enforce', allow: ['good/*'] },
    ],
  });
  expect(
    evaluated({ breakglass: [glass] }, { image: 'evil' } as object, {}, policy).breakGlass,
  ).toBeUndefined();
});
