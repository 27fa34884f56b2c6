import type { AlarmSpec } from './alarm-spec.ts';

/** Stands for an age where a reader reads nothing, so that there is none. */
const UNREAD_SECONDS = 3_600;

/** From a job's end to its charge: webhook, inbox, stream. */
export const endsOfJobsAlarms: readonly AlarmSpec[] = [
  {
    name: 'WebhookSilence',
    severity: 'ticket',
    says: 'Jobs are admitted, but their ends hardly arrive: GitLab tells none, deliveries are refused, or nobody reads the inbox. Holds wait for the sweep.',
    formula: [
      // A hundred an hour is more than strangers try, and each may have been the end of a job.
      'IF(FILL(settleRefused, 0) + FILL(settleBroken, 0) > 100, 0,',
      // A reader that is five minutes behind is StreamBehind alone.
      'IF(FILL(settleAge, 0) > 300000, 100,',
      // Every admitted job ends once. Twenty an hour: with fewer, an hour without an end says nothing.
      'IF(FILL(admitted, 0) > 20, 100 * FILL(jobEvents, 0) / FILL(admitted, 1), 100)))',
    ].join(' '),
    label: 'Ends told by webhook, % of admissions; 0: refused',
    periodMinutes: 60,
    breach: ['below', 20],
    // Jobs of a night may all take longer than an hour.
    periods: 2,
    // No admissions, no job ends and no refusals.
    missing: 'notBreaching',
  },
  {
    name: 'StreamBehind',
    severity: 'ticket',
    says: 'Ended jobs are charged, or usage is summed up, more than five minutes late.',
    formula: [
      // The rollup reads each settlement within about a minute; settlements without rollup calls mean that it
      // is not running.
      `IF(FILL(settlementLag, -1) > -1 && FILL(rollupCalls, 0) < 1, ${UNREAD_SECONDS},`,
      // Each is written only while there is something to read. Ages come in milliseconds.
      'MAX([FILL(settlementLag, 0), FILL(settleAge, 0) / 1000, FILL(rollupAge, 0) / 1000]))',
    ].join(' '),
    label: 'Seconds behind',
    periodMinutes: 5,
    breach: ['above', 300],
    periods: 3,
    // No job ended, so nothing is late.
    missing: 'notBreaching',
  },
  {
    name: 'DeadLetters',
    severity: 'ticket',
    says: 'A reader of the table’s stream gave up on something.',
    formula: 'FILL(settleLetters, 0) + FILL(rollupLetters, 0)',
    label: 'Dead letters that wait',
    graph: 'Dead letters',
    periodMinutes: 15,
    breach: ['above', 0],
    periods: 1,
    // SQS stops reporting an idle queue, which is empty.
    missing: 'notBreaching',
  },
  {
    name: 'RollupLeavesOut',
    severity: 'ticket',
    says: 'Owners of limits could not be told of a threshold, or the stream has items that nobody can read.',
    formula: 'rollupLeftOut',
    label: 'Items passed over and counters not told of',
    graph: 'Left out of usage and mails',
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
    graph: 'Admitted, yet failed by GitLab',
    periodMinutes: 15,
    // One or two are answers that arrived too late. Where answers are misread, every job fails.
    breach: ['above', 2],
    periods: 1,
    // No job ended and no sweep ran: the latter is SweepFailing.
    missing: 'notBreaching',
  },
];
