import type { Reason, Violation } from '../../../policies/reason.ts';
import { type RejectionTextInput, rejectionText } from '../../../policies/text/rejection-text.ts';

export const NOW_MS = Date.UTC(2026, 10, 21, 12);

const violation = (reason: Reason): Violation => ({
  rule: 'r',
  class: 'cost',
  mode: 'enforce',
  reason,
});

/** What the developer of job "e2e-large" reads. */
export function told(
  reasons: readonly [Reason, ...Reason[]],
  more: Partial<RejectionTextInput> = {},
): string {
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
}

/** Where everybody may read it. */
export const toldDiscreetly = (reason: Reason): string => told([reason], { disclosure: 'none' });
