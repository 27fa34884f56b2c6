import type { AlarmSpec } from './alarm-spec.ts';

/** From a job's end to its charge: webhook, inbox, stream. */
export const endsOfJobsAlarms: readonly AlarmSpec[] = [
  {
    name: 'WebhookSilence',
    severity: 'ticket',
    says: 'Jobs are admitted, but GitLab tells hardly any ends: holds wait for the sweep.',
    // Every admitted job ends once. Twenty an hour: with fewer, an hour without an end says nothing.
    formula: 'IF(admitted > 20, 100 * FILL(jobEvents, 0) / admitted, 100)',
    label: 'Ends told by webhook, % of admissions',
    periodMinutes: 60,
    breach: ['below', 20],
    // Jobs of a night may all take longer than an hour.
    periods: 2,
    // Without relays nothing is admitted, and nothing is to be told.
    missing: 'notBreaching',
  },
  {
    name: 'StreamBehind',
    severity: 'ticket',
    says: 'Ended jobs are charged, or usage is summed up, more than five minutes late.',
    // Each is written only while there is something to read. Ages come in milliseconds.
    formula: 'MAX([FILL(settlementLag, 0), FILL(settleAge, 0) / 1000, FILL(rollupAge, 0) / 1000])',
    label: 'Seconds behind',
    periodMinutes: 5,
    breach: ['above', 300],
    periods: 3,
    // No job ended and nothing was written: nobody is late.
    missing: 'notBreaching',
  },
  {
    name: 'DeadLetters',
    severity: 'ticket',
    says: 'A reader of the table’s stream gave up on something.',
    formula: 'FILL(settleLetters, 0) + FILL(rollupLetters, 0)',
    label: 'Dead letters that wait',
    periodMinutes: 15,
    breach: ['above', 0],
    periods: 1,
    // SQS stops to count a queue that nobody has used for hours: an empty one.
    missing: 'notBreaching',
  },
  {
    name: 'RollupLeavesOut',
    severity: 'ticket',
    says: 'Owners of limits could not be told of a threshold, or the stream has items that nobody can read.',
    formula: 'rollupLeftOut',
    label: 'Items passed over and counters not told of',
    periodMinutes: 5,
    breach: ['above', 0],
    // A topic that refuses once takes the same with the next batch.
    periods: 3,
    breaching: 2,
    // Written only when it happens.
    missing: 'notBreaching',
  },
  {
    name: 'AdmittedYetFailed',
    severity: 'page',
    says: 'Jobs fail that were admitted: GitLab reads our answers otherwise than they are meant, or somebody else refuses them.',
    formula: 'FILL(admittedYetFailed, 0)',
    label: 'Admitted jobs that the router failed',
    periodMinutes: 15,
    // One or two are answers that arrived too late. Where answers are misread, every job fails.
    breach: ['above', 2],
    periods: 1,
    // No job ended and no sweep ran: the latter is SweepFailing.
    missing: 'notBreaching',
  },
];
