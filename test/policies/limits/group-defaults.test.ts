import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import { aPolicy, someLimits, using } from '../documents.ts';

const request = { jobId: 1, projectId: 1, namespaceId: 104, rootNamespaceId: 100 };
const claimsOf = (document: object, more: object = {}) =>
  evaluate(request, using(aPolicy(), someLimits(document), more)).claims.map(
    ({ counter, bound }) => `${counter.subject} ${counter.limit} ${bound}`,
  );
const byPattern = { groups: 'acme/*', money: 50, per: 'month' };

test('every group at a path like this has the limit, on a counter of its own; `acme/**` is acme and all below it', () => {
  expect(claimsOf({ group_defaults: [byPattern] })).toEqual(['group/101 money-month 50000000']);
  expect(claimsOf({ group_defaults: [{ ...byPattern, groups: 'acme/**' }] })).toEqual([
    'group/100 money-month 50000000',
    'group/101 money-month 50000000',
    'group/104 money-month 50000000',
  ]);
});

test.each([
  ['a larger one', { money: 70, per: 'month' }, ['group/101 money-month 70000000']],
  ['unlimited', { money: 'unlimited', per: 'month' }, []],
  ['one of another kind beside it', { jobs: 3 }, ['group/101 jobs-now 3', 'group/101 money-month 50000000']],
  ['one that is over', { money: 70, per: 'month', until: '2026-11-20' }, ['group/101 money-month 50000000']],
])('a limit of the group’s own stands in for the default of its kind: %s', (_, own, expected) => {
  expect(claimsOf({ limits: [{ on: { group: 101 }, ...own }], group_defaults: [byPattern] })).toEqual(
    expected,
  );
});

test('of each kind the first pattern that matches counts, with all its limits', () => {
  expect(
    claimsOf({
      group_defaults: [
        { groups: 'acme/p*', money: 10, per: 'month' },
        { groups: 'acme/*', money: 50, per: 'month' },
        { groups: 'acme/*', jobs: 5 },
        { groups: 'acme/p*', money: 2, per: 'day' },
      ],
    }),
  ).toEqual(['group/101 money-month 10000000', 'group/101 jobs-now 5', 'group/101 money-day 2000000']);
});

test('a group whose path is not known, and a personal namespace, have none', () => {
  const document = { group_defaults: [{ ...byPattern, groups: '**' }] };
  expect(claimsOf(document, { directory: undefined })).toEqual([]);
  const jane = { jobId: 1, namespaceId: 190, rootNamespaceId: 190 };
  expect(evaluate(jane, using(aPolicy(), someLimits(document))).claims).toEqual([]);
});
