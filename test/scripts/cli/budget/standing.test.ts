import { expect, test } from 'vitest';
import { directoryOf } from '../../../../policies/place/directory.ts';
import { subjectLimits } from '../../../../scripts/cli/budget/standing.ts';
import { someLimits } from '../../../policies/documents.ts';

const DIRECTORY = directoryOf([
  { id: 100, path: 'acme', personal: false },
  { id: 190, path: 'jane', personal: true },
]);
const LIMITS = someLimits({
  limits: [{ on: { group: 100 }, money: 5, per: 'month' }],
  personal_default: [{ jobs: 8 }],
});

test('a personal namespace has its default limits where it is asked for, and does not fill the list of all', () => {
  const of = (personal: boolean): readonly string[] =>
    subjectLimits(LIMITS, DIRECTORY, 0, () => true, personal).map(
      ({ subject, limit }) => `${subject} ${limit.id}`,
    );
  expect(of(false)).toEqual(['group/100 money-month']);
  expect(of(true)).toEqual(['group/100 money-month', 'group/190 jobs-now']);
});
