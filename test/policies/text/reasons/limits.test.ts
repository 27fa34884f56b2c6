import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import {
  discreetHeadline,
  headline,
  reasonLine,
  retryAdvice,
} from '../../../../policies/text/reason-texts.ts';
import { NOW_MS, told, toldDiscreetly } from '../told.ts';
import { alone, blocked, indebted, lessened, once, soft, spent } from './limit-reasons.ts';

const first = (reason: Reason): string => headline(reason, { currency: 'EUR', nowMs: NOW_MS });
const advice = (reason: Reason): readonly string[] => retryAdvice(reason, 'binding', NOW_MS);

test('a soft limit is told to its owner and stops no job', () => {
  const lines = [
    `[${soft.code}] ${first(soft)}`,
    reasonLine(soft, 'EUR'),
    ...advice(soft),
    discreetHeadline(soft),
  ];
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "[SOFT_LIMIT] Soft limit passed: CI budget of group acme/payments for November 2026 at 398.70 + 2.40 of 400.00 EUR.
    group acme/payments: CI budget at 398.70 + 2.40 for this job; soft limit 400.00 EUR for November 2026
    A soft limit stops no job: it warns the owner that the limit itself is near.
    A CI limit is nearly used up. This job may run."
  `);
});

test('a job larger than the limit, and a blocked group', () => {
  expect(told([alone])).toMatchInlineSnapshot(`
    "This job needs about 2.40 EUR, more than the whole CI budget of group acme/payments: 2.00 EUR for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 2.00 EUR for November 2026
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(told([blocked])).toMatchInlineSnapshot(`
    "CI jobs of group acme/payments are blocked: the CI budget for November 2026 is set to 0.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 0.00 EUR for November 2026
    Retrying will fail again until the limit is raised.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(blocked)).toMatchInlineSnapshot(`
    "A CI limit blocks this job.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying will fail again until the limit is raised.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(alone)).toMatchInlineSnapshot(`
    "This job is larger than a CI limit allows.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.
    Decision: d-01JABC"
  `);
});

test.each<[Partial<Reason & { limitAmount: number; asked: number }>, string, string, string]>([
  [
    { unit: 'seconds', asked: 7_200, limitAmount: 3_600 },
    'This job needs about 120 min, more than all CI minutes of group acme/payments: 60 min.',
    'group acme/payments: CI minutes 60 min',
    'Retrying will fail again. Give the job a shorter timeout, or ask for a higher limit.',
  ],
  [
    { unit: 'millicpu', asked: 16_000, limitAmount: 500 },
    'This job needs 16 CPU, more than the CPU limit for running jobs of group acme/payments: 0.5 CPU.',
    'group acme/payments: CPU limit for running jobs 0.5 CPU',
    'Retrying will fail again. Lower the CPU that its KUBERNETES_* variables ask for, or ask for a higher limit.',
  ],
  [
    { unit: 'bytes', asked: 2 ** 33, limitAmount: 6 * 2 ** 30 },
    'This job needs 8 GiB, more than the memory limit for running jobs of group acme/payments: 6 GiB.',
    'group acme/payments: memory limit for running jobs 6 GiB',
    'Retrying will fail again. Lower the memory that its KUBERNETES_* variables ask for, or ask for a higher limit.',
  ],
  [
    { unit: 'starts', asked: 1, limitAmount: 0 },
    'CI jobs of group acme/payments are blocked: the limit of CI job starts is set to 0.',
    'group acme/payments: limit of CI job starts 0 job starts',
    'Retrying will fail again until the limit is raised.',
  ],
  [
    { unit: 'jobs', asked: 1, limitAmount: 0 },
    'CI jobs of group acme/payments are blocked: the limit of CI jobs at once is set to 0.',
    'group acme/payments: limit of CI jobs at once 0 jobs',
    'Retrying will fail again until the limit is raised.',
  ],
])('each kind of limit has a name of its own: %j', (facts, ...texts) => {
  const reason = { code: 'EXCEEDS_LIMIT_ALONE', ...once, ...facts } as Reason;
  expect([first(reason), reasonLine(reason, 'EUR'), ...advice(reason)]).toEqual(texts);
});

test('a limit that is 0 because of what was overdrawn before is not told as one that somebody set to 0', () => {
  expect(told([indebted])).toMatchInlineSnapshot(`
    "CI jobs of group acme/payments are blocked: an overdraft of 620.00 EUR takes the whole CI budget for November 2026.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: CI budget 0.00 EUR for November 2026, after an overdraft of 620.00 EUR
    Retrying now will fail again. It will work after 1 Dec 2026 00:00 Europe/Berlin (in 9 days), or with a grant.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(indebted)).toMatchInlineSnapshot(`
    "A CI limit blocks this job.

    [EXCEEDS_LIMIT_ALONE] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying now will fail again. It will work when the period starts anew, or with a grant.
    Decision: d-01JABC"
  `);
  expect(first({ ...indebted, unit: 'seconds', overdrawn: 72_000 } as Reason)).toMatchInlineSnapshot(
    `"CI jobs of group acme/payments are blocked: an overdraft of 1,200 min takes all CI minutes for November 2026."`,
  );
});

test('a limit that is smaller because of what was overdrawn before says so beside its numbers', () => {
  expect([reasonLine(lessened, 'EUR'), ...advice(lessened)]).toMatchInlineSnapshot(`
    [
      "group acme/payments: CI budget 2.00 EUR for November 2026, after an overdraft of 498.00 EUR",
      "Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.",
    ]
  `);
  const less = {
    ...spent,
    limitAmount: 380_000_000,
    committed: 379_000_000,
    overdrawn: 120_000_000,
  } as Reason;
  expect(reasonLine(less, 'EUR')).toMatchInlineSnapshot(
    `"group acme/payments: 498.70 spent + 0.00 held of 380.00 EUR for November 2026, after an overdraft of 120.00 EUR; 1.40 EUR missing"`,
  );
});
