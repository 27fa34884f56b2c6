import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { told, toldDiscreetly } from '../told.ts';

const broken: Reason = {
  code: 'BREAK_GLASS',
  breakGlass: 'b-7',
  why: 'Payment outage.',
  owner: 'payments-leads',
};

test('a job that somebody let past its limits', () => {
  expect(told([broken])).toMatchInlineSnapshot(`
    "Admitted by break-glass, past its limits: Payment outage.

    [BREAK_GLASS] job "e2e-large" was not started. Nothing is wrong with your code.
      admitted by break-glass b-7: Payment outage.
    The job counts in all its limits, its owners are told, and somebody reviews it.
    Owner of the limit: payments-leads
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(broken)).toMatchInlineSnapshot(`
    "Admitted by break-glass.

    [BREAK_GLASS] job "e2e-large" was not started. Nothing is wrong with your code.
    The job counts in all its limits, its owners are told, and somebody reviews it.
    Decision: d-01JABC"
  `);
});
