import type { AlarmSpec } from './alarm-spec.ts';

/** The admit function and its table, by AWS's own metrics: they cost nothing and are there when ours are not. */
export const ledgerAlarms: readonly AlarmSpec[] = [
  {
    name: 'AdmitErrors',
    severity: 'ticket',
    says: 'The admit function fails or is throttled; relays answer such batches by themselves.',
    // A function that is only throttled has no errors to count.
    formula: 'FILL(admitErrors, 0) + FILL(admitThrottles, 0)',
    label: 'Errors and throttles of the admit function',
    periodMinutes: 5,
    breach: ['above', 4],
    periods: 3,
    breaching: 2,
    // No calls means no errors; if calls stay away though GitLab asks, the relays fall back and FallbackShare pages.
    missing: 'notBreaching',
  },
  {
    name: 'TableThrottled',
    severity: 'ticket',
    says: 'DynamoDB throttles the table: admissions are tried again and take longer.',
    // Each is written only while it happens, so either may be absent.
    formula: 'FILL(readThrottles, 0) + FILL(writeThrottles, 0)',
    label: 'Throttled reads and writes',
    periodMinutes: 5,
    // A table that grows throttles for a moment, and the ledger tries again; this is one a second.
    breach: ['above', 300],
    periods: 3,
    breaching: 2,
    // DynamoDB writes this metric only while it throttles.
    missing: 'notBreaching',
  },
];
