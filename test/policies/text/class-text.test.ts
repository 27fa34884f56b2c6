import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import { classColumn, classText } from '../../../policies/text/class-text.ts';
import { aPolicy, someLimits, using } from '../documents.ts';

test.each<[readonly string[], string, string]>([
  [['large'], 'runner class large', 'large'],
  [[], 'runner class small', 'small'],
  [['windows'], 'no runner class, taken as small', 'none (small)'],
  [['large', 'windows'], 'runner class large', 'large'],
])('a job with the tags %j is told to have %s', (jobTags, text, column) => {
  const policy = aPolicy();
  const { terms } = evaluate({ jobId: 1, jobTags }, using(policy, someLimits({ limits: [] }, policy)));
  expect(classText(terms)).toBe(text);
  expect(classColumn(terms)).toBe(column);
  // The price is that of the class that stands in.
  expect(terms.costMicros).toBe(terms.runnerClass === 'large' ? 6_000_000 : 1_000_000);
});
