import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Reason } from '../../../policies/reason.ts';
import { classColumn, classText } from '../../../policies/text/rejection-text.ts';
import { aPolicy, someLimits, using } from '../documents.ts';
import { alone, cpu, hourFull, slots, soft, spent } from './limit-reasons.ts';
import { told } from './told.ts';

const image: Reason = { code: 'IMAGE_NOT_ALLOWED', image: 'evil', allowed: ['registry.acme.example/**'] };
const missing: Reason = { code: 'FIELD_MISSING', field: 'ref' };
const ours: Reason = { code: 'CONTROLLER_ERROR', cause: 'RangeError' };
const frozen: Reason = { code: 'GROUP_FROZEN', frozenLabel: 'everything', zone: 'UTC' };

test('where there is a console the text leads to the page that explains the job, but not from public projects', () => {
  const detailsUrl = 'https://budget.example.com/jobs/7';
  expect(told([spent], { detailsUrl }).split('\n').slice(-2)).toEqual([
    `Details: ${detailsUrl}`,
    'Decision: d-01JABC',
  ]);
  expect(told([spent], { detailsUrl, disclosure: 'none' })).not.toContain('budget.example.com');
  expect(told([spent], { detailsUrl: `https://budget.example.com/${'x'.repeat(300)}` })).not.toContain(
    'Details',
  );
  expect(told([spent])).not.toContain('Details');
});

test('all reasons at once: the one that is hardest to lift first, numbers as far as they may be told', () => {
  expect(told([slots, spent, alone])).toMatchInlineSnapshot(`
    "This job needs about 2.40 EUR, more than the CI budget of group acme/payments: 2.00 EUR for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 2.00 EUR for November 2026
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Owner of the limit: payments-leads
    Other reasons that also reject this job:
      [CONCURRENCY_FULL] group acme: limit of CI concurrent jobs
      [BUDGET_EXHAUSTED] group acme/payments: CI budget
    Decision: d-01JABC"
  `);
  expect(told([slots, spent, alone], { disclosure: 'all' })).toContain(`
  [CONCURRENCY_FULL] group acme: 20 of 20 concurrent jobs
  [BUDGET_EXHAUSTED] group acme/payments: 498.70 spent + 1.30 held of 500.00 EUR for November 2026; 2.40 EUR missing
Decision: d-01JABC`);
  expect(
    told([slots, spent, image, alone], { disclosure: 'none', footer: 'Ask in #ci-budget' }),
  ).toMatchInlineSnapshot(`
    "Container image "evil" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Use another image.
    Ask in #ci-budget
    Other reasons that also reject this job:
      [CONCURRENCY_FULL] Too many CI jobs are running: wait until one has finished.
      [BUDGET_EXHAUSTED] A CI budget has no room for this job.
      [EXCEEDS_LIMIT_ALONE] This job is larger than a CI limit allows.
    Decision: d-01JABC"
  `);
});

const codeOf = (message: string): string | undefined => /\[([A-Z_]+)\]/.exec(message)?.[1];

test.each<[string, Reason, Reason]>([
  ['what the author has to change before what GitLab did not send', image, missing],
  ['what GitLab did not send before a limit', missing, alone],
  ['what never fits before what opens', alone, frozen],
  ['a freeze without an end before a budget that starts anew', frozen, spent],
  ['a budget for the month before a window of an hour', spent, hourFull],
  ['a window before our own failure', hourFull, ours],
  ['our own failure before what opens when other jobs end', ours, cpu],
  ['any other before a soft limit', slots, soft],
])('%s', (_, harder, softer) => {
  expect([codeOf(told([softer, harder])), codeOf(told([harder, softer]))]).toEqual([
    harder.code,
    harder.code,
  ]);
});

test('how long a job waited for room is told, where it is worth telling', () => {
  expect(told([slots], { waitedMs: 19_700 })).toContain('\n  It waited 19 s, and no slot became free.\n');
  expect(told([slots], { waitedMs: 19_700, disclosure: 'none' })).toContain('It waited 19 s');
  expect(told([slots], { waitedMs: 400 })).not.toContain('waited');
});

test('whose group agreed to it is told that the job is retried', () => {
  const retried = { groupId: 101, retries: 2, withinSeconds: 3_600, priority: 0 };
  expect(told([slots], { retried })).toContain(
    '\nYou need not retry. Tollgate retries this job when the limit allows it, at most 2 times within 60 min.\n',
  );
  expect(told([slots], { retried: { ...retried, retries: 1 } })).toContain('at most once within 60 min.');
  expect(told([slots], { retried })).not.toContain('retry:');
  expect(told([slots])).not.toContain('consent');
});

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
