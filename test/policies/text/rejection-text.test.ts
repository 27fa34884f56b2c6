import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DISCLOSURES } from '../../../policies/disclosure.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';
import {
  footerOf,
  REJECTION_CHARACTERS_MAX,
  type RejectionTextInput,
  rejectionText,
} from '../../../policies/text/rejection-text.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

const month = {
  limit: 'money-month',
  subject: 'group/101',
  subjectLabel: 'group acme/payments',
  unit: 'micros',
  limitAmount: 500_000_000,
  asked: 2_400_000,
  periodLabel: 'November 2026',
  resetsAtMs: Date.UTC(2026, 10, 30, 23),
  zone: 'Europe/Berlin',
  owner: 'payments-leads',
} as const;
const spent: Reason = { code: 'BUDGET_EXHAUSTED', ...month, committed: 500_000_000, settled: 498_700_000 };
const minutes: Reason = {
  ...spent,
  unit: 'seconds',
  limitAmount: 60_000,
  asked: 600,
  committed: 59_700,
  settled: 59_700,
};
const slots: Reason = {
  code: 'CONCURRENCY_FULL',
  limit: 'jobs-now',
  subject: 'group/100',
  subjectLabel: 'group acme',
  unit: 'jobs',
  limitAmount: 20,
  asked: 1,
  committed: 20,
  settled: 0,
};
const alone: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...month, limitAmount: 2_000_000 };
const blocked: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...month, limitAmount: 0 };
const image: Reason = {
  code: 'IMAGE_NOT_ALLOWED',
  image: '$CI_IMAGE',
  allowed: ['registry.acme.example/**'],
};
const denied: Reason = { code: 'IMAGE_NOT_ALLOWED', image: 'alpine:latest', allowed: [], denied: '*:latest' };
const missing: Reason = { code: 'FIELD_MISSING', field: 'image' };
const ours: Reason = { code: 'CONTROLLER_ERROR', cause: 'RangeError' };

const violation = (reason: Reason): Violation => ({ rule: 'r', class: 'cost', mode: 'enforce', reason });
const text = (reasons: readonly [Reason, ...Reason[]], more: Partial<RejectionTextInput> = {}): string => {
  const [first, ...rest] = reasons;
  return rejectionText({
    request: { jobId: 7, jobName: 'e2e-large' },
    violations: [violation(first), ...rest.map(violation)],
    terms: {
      runnerClass: 'large',
      estimateSeconds: 1_440,
      costMicros: 2_400_000,
      currency: 'EUR',
      group: 'acme/payments',
    },
    decisionId: 'd-01JABC',
    nowMs: NOW_MS,
    disclosure: 'binding',
    ...more,
  });
};

test('a used up budget', () => {
  expect(text([spent], { footer: 'Ask in #ci-budget' })).toMatchInlineSnapshot(`
    "CI budget of group acme/payments is used up: 500.00 of 500.00 EUR for November 2026 (resets in 9 days).

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: 498.70 spent + 1.30 held of 500.00 EUR for November 2026; 2.40 EUR missing
    Retrying now will fail again. It will work after 1 Dec 2026 00:00 Europe/Berlin (in 9 days), or with a higher limit.
    Owner of the limit: payments-leads
    Ask in #ci-budget
    Decision: d-01JABC"
  `);
});

test('minutes with too little left', () => {
  expect(text([minutes])).toMatchInlineSnapshot(`
    "CI minutes of group acme/payments have 5 of 1,000 min left for November 2026, this job needs 10 (resets in 9 days).

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: 995 spent + 0 held of 1,000 min for November 2026; 5 min missing
    Retrying now will fail again. It will work after 1 Dec 2026 00:00 Europe/Berlin (in 9 days), or with a higher limit.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
});

test('no free slot: a retry helps', () => {
  expect(text([slots])).toMatchInlineSnapshot(`
    "All 20 CI job slots of group acme are taken: wait until a job there has finished.

    [CONCURRENCY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme: 20 of 20 jobs at once
    A retry will work as soon as one of the running jobs has finished.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
});

test('a job larger than the limit, and a blocked group', () => {
  expect(text([alone])).toMatchInlineSnapshot(`
    "This job needs about 2.40 EUR, more than the whole CI budget of group acme/payments: 2.00 EUR for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 2.00 EUR for November 2026
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(text([blocked])).toMatchInlineSnapshot(`
    "CI jobs of group acme/payments are blocked: the CI budget for November 2026 is set to 0.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 0.00 EUR for November 2026
    Retrying will fail again until the owner raises the limit.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
});

test('an image that is not allowed', () => {
  expect(text([image])).toMatchInlineSnapshot(`
    "Container image "$CI_IMAGE" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
      image "$CI_IMAGE" matches no allowed pattern; it was compared as written, with its variable not yet expanded
    Retrying will fail again. Use an allowed image; closest: registry.acme.example/**
    Decision: d-01JABC"
  `);
  expect(text([denied])).toMatchInlineSnapshot(`
    "Container image "alpine:latest" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
      image "alpine:latest" is denied by *:latest
    Retrying will fail again. Use another image.
    Decision: d-01JABC"
  `);
});

test('a field GitLab did not send, and our own failure', () => {
  expect(text([missing])).toMatchInlineSnapshot(`
    "GitLab did not tell the job's image, and a rule needs it.

    [FIELD_MISSING] job "e2e-large" was not started. Nothing is wrong with your code.
      image: not sent by GitLab
    Retrying will fail again. Name an image in the job.
    Decision: d-01JABC"
  `);
  expect(text([ours])).toMatchInlineSnapshot(`
    "The system that admits CI jobs failed on this job. The job is not the cause.

    [CONTROLLER_ERROR] job "e2e-large" was not started. Nothing is wrong with your code.
      a rule failed and is set to reject then
    A retry may work once the system has recovered. Show this message to the team that runs CI.
    Decision: d-01JABC"
  `);
});

test('all reasons at once: the one that is hardest to lift first, numbers as far as they may be told', () => {
  expect(text([slots, spent, alone])).toMatchInlineSnapshot(`
    "This job needs about 2.40 EUR, more than the whole CI budget of group acme/payments: 2.00 EUR for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 2.00 EUR for November 2026
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Owner of the limit: payments-leads
    It would also have been stopped by:
      [CONCURRENCY_FULL] group acme: limit of CI jobs at once
      [BUDGET_EXHAUSTED] group acme/payments: CI budget
    Decision: d-01JABC"
  `);
  expect(text([slots, spent, alone], { disclosure: 'all' })).toMatchInlineSnapshot(`
    "This job needs about 2.40 EUR, more than the whole CI budget of group acme/payments: 2.00 EUR for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 2.00 EUR for November 2026
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Owner of the limit: payments-leads
    It would also have been stopped by:
      [CONCURRENCY_FULL] group acme: 20 of 20 jobs at once
      [BUDGET_EXHAUSTED] group acme/payments: 498.70 spent + 1.30 held of 500.00 EUR for November 2026; 2.40 EUR missing
    Decision: d-01JABC"
  `);
  expect(
    text([slots, spent, alone], { disclosure: 'none', footer: 'Ask in #ci-budget' }),
  ).toMatchInlineSnapshot(`
    "This job is larger than a CI limit allows.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Ask in #ci-budget
    It would also have been stopped by:
      [CONCURRENCY_FULL]
      [BUDGET_EXHAUSTED]
    Decision: d-01JABC"
  `);
});

test('of two budgets the one that opens later is told first', () => {
  const later: Reason = { ...spent, subjectLabel: 'group acme', resetsAtMs: month.resetsAtMs + 1 };
  expect(text([spent, later]).split('\n')[0]).toContain('group acme is used up');
});

test('disclosure none tells no name and no number of any limit, and no pattern', () => {
  for (const reason of [spent, minutes, slots, alone, blocked]) {
    expect(text([reason], { disclosure: 'none' })).not.toMatch(/acme|payments|\d{2,}(?!JABC)|EUR/);
  }
  expect(text([image], { disclosure: 'none' })).not.toContain('registry.acme.example');
});

test('disclosure binding tells no numbers of the other levels', () => {
  expect(text([spent, slots])).not.toMatch(/\b20\b/);
});

test('without terms nothing is said of the cost', () => {
  expect(text([slots], { terms: undefined })).not.toContain('This job');
});

test('a job without a name is called by its id', () => {
  expect(text([slots], { request: { jobId: 7 } })).toContain('job 7 was not started');
});

test('footers are those of the rules that rejected, each once', () => {
  const rules = [
    { id: 'r', message: 'a' },
    { id: 's', message: 'b' },
    { id: 't', message: 'a' },
    { id: 'u' },
  ];
  const of = (...ids: string[]): string | undefined =>
    footerOf(
      rules,
      ids.map((rule) => ({ ...violation(slots), rule })),
    );
  expect([of('r', 't'), of('s', 'r'), of('u'), of()]).toEqual(['a', 'a\nb', undefined, undefined]);
});

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 5_000 }),
  fc.constantFrom('a/'.repeat(200), '\u202Eevil', 'x\nDecision: forged', '\u001B[31mred'),
);
const amount = fc.nat(Number.MAX_SAFE_INTEGER);
const facts = fc.record({
  limit: words,
  subject: words,
  subjectLabel: words,
  unit: fc.constantFrom('micros' as const, 'seconds' as const, 'jobs' as const),
  limitAmount: amount,
  asked: amount,
  committed: amount,
  settled: amount,
  periodLabel: words,
  resetsAtMs: fc.integer({ min: NOW_MS, max: NOW_MS + 1e11 }),
  zone: fc.constantFrom('UTC', 'Europe/Berlin'),
  owner: words,
});
const anyReason: fc.Arbitrary<Reason> = fc.oneof(
  facts.map((each) => ({ code: 'BUDGET_EXHAUSTED' as const, ...each })),
  facts.map((each) => ({ code: 'CONCURRENCY_FULL' as const, ...each })),
  facts.map((each) => ({ code: 'EXCEEDS_LIMIT_ALONE' as const, ...each })),
  fc.record({
    code: fc.constant('IMAGE_NOT_ALLOWED' as const),
    image: words,
    allowed: fc.array(words, { maxLength: 3 }),
  }),
  fc.record({ code: fc.constant('FIELD_MISSING' as const), field: words }),
  fc.record({ code: fc.constant('CONTROLLER_ERROR' as const), cause: words }),
);

test('whatever people and projects are called: plain, bounded, a first line of its own and the decision last', () => {
  fc.assert(
    fc.property(
      fc.array(anyReason, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...DISCLOSURES),
      words,
      words,
      (reasons, disclosure, jobName, footer) => {
        const [first, ...rest] = reasons as [Reason, ...Reason[]];
        const message = text([first, ...rest], { disclosure, request: { jobId: 7, jobName }, footer });
        const lines = message.split('\n');
        expect(message.length).toBeLessThanOrEqual(REJECTION_CHARACTERS_MAX);
        expect(lines[0]).not.toBe('');
        expect(lines[0]?.length).toBeLessThanOrEqual(120);
        expect(lines.filter((line) => line === 'Decision: d-01JABC')).toHaveLength(1);
        expect(lines.at(-1)).toBe('Decision: d-01JABC');
        expect(lines[2]).toMatch(
          /^\[[A-Z_]+\] job .*was not started\.( Nothing is wrong with your code\.)?$/u,
        );
        expect(message.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069\u2028\u2029]/u);
        expect(message.isWellFormed()).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
