import { expect, test } from 'vitest';
import { told, toldDiscreetly } from '../told.ts';
import { minutes, spent, spentForGood } from './limit-reasons.ts';

test('a used up budget', () => {
  expect(told([spent], { footer: 'Ask in #ci-budget' })).toMatchInlineSnapshot(`
    "CI budget of group acme/payments is used up: 500.00 of 500.00 EUR for November 2026 (resets in 9 days).

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: 498.70 spent + 1.30 held of 500.00 EUR for November 2026; 2.40 EUR missing
    Retrying now will fail again. It will work after 1 Dec 2026 00:00 Europe/Berlin (in 9 days), or with a higher limit.
    Owner of the limit: payments-leads
    Ask in #ci-budget
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(spent)).toMatchInlineSnapshot(`
    "A CI budget has no room for this job.

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying now will fail again. It will work when the period starts anew, or with a higher limit.
    Decision: d-01JABC"
  `);
});

test('minutes with too little left', () => {
  expect(told([minutes])).toMatchInlineSnapshot(`
    "CI minutes of group acme/payments have 5 of 1,000 min left for November 2026, this job needs 10 (resets in 9 days).

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: 995 spent + 0 held of 1,000 min for November 2026; 5 min missing
    Retrying now will fail again. It will work after 1 Dec 2026 00:00 Europe/Berlin (in 9 days), or with a higher limit.
    With a shorter timeout the job may fit into what is left.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(minutes)).toMatchInlineSnapshot(`
    "A CI minutes quota has no room for this job.

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying now will fail again. It will work when the period starts anew, or with a higher limit.
    Decision: d-01JABC"
  `);
});

test('a budget that never starts anew promises no reset', () => {
  expect(told([spentForGood])).toMatchInlineSnapshot(`
    "CI budget of group acme/payments has 2.00 of 500.00 EUR left, this job needs 2.40.

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
      This job: about 2.40 EUR (runner class large, 24 min)
      group acme/payments: 490.00 spent + 8.00 held of 500.00 EUR; 0.40 EUR missing
    Retrying will fail again: this limit never resets, it has to be raised.
    With a cheaper runner or a shorter timeout the job may fit into what is left.
    It may work earlier, if the jobs running now need less than is held for them.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(spentForGood)).toMatchInlineSnapshot(`
    "A CI budget has no room for this job.

    [BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying will fail again: this limit never resets, it has to be raised.
    Decision: d-01JABC"
  `);
});
