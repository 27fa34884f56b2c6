import type { AlarmSpec } from './alarm-spec.ts';

/** Inputs of decisions: limits and the group directory. */
export const ruleAlarms: readonly AlarmSpec[] = [
  {
    name: 'LimitsUnreadable',
    severity: 'ticket',
    says: 'Limits cannot be read, or a parameter with limits is invalid: the last valid ones stay in force.',
    formula: 'limitsUnreadable',
    label: 'Times the limits could not be read',
    graph: 'Limits',
    periodMinutes: 5,
    breach: ['above', 0],
    periods: 3,
    breaching: 2,
    // Written only when it happens.
    missing: 'notBreaching',
  },
  {
    name: 'RejectedShare',
    severity: 'page',
    says: 'More than half of all jobs were rejected for a quarter of an hour: an edit of limits, policy or rollout may be wrong.',
    formula: 'IF(questions >= 20, 100 * rejected / questions, 0)',
    label: 'Rejected jobs, % of questions',
    graph: 'Rejected share',
    periodMinutes: 15,
    breach: ['above', 50],
    periods: 1,
    // Relays write zeros, too; without any value there is no relay, which is RelayDisconnected.
    missing: 'notBreaching',
  },
  {
    name: 'UnknownGroups',
    severity: 'ticket',
    says: 'Jobs come from groups that are not in the directory: only some of their limits apply.',
    formula: 'unknownGroups',
    label: 'Admissions of unknown groups',
    graph: 'Groups not in the directory',
    periodMinutes: 60,
    // A new group is unknown until the next sync, a few minutes.
    breach: ['above', 20],
    periods: 2,
    // Written only when it happens.
    missing: 'notBreaching',
  },
  {
    name: 'DirectoryStale',
    severity: 'ticket',
    says: 'The groups of GitLab have not been listed to their end for two hours: groups that moved keep their old limits.',
    // A GitLab that answered no sweep for an hour lists no groups, either: that is SweepFailing alone.
    formula: 'IF(FILL(gitlabSilentThroughout, 0) > 0, 0, directoryAge)',
    label: 'Since all groups were listed, seconds',
    graph: 'Age of the directory',
    periodMinutes: 60,
    breach: ['above', 7_200],
    periods: 1,
    // Every run says how old it is, from the first complete listing on: no value is no run, or never a listing.
    missing: 'breaching',
  },
  {
    name: 'RelayDirectoryStale',
    severity: 'ticket',
    says: 'A relay has not received the list of groups for half an hour: after an hour its fallback cannot tell rules by group.',
    // A relay's directory is never newer than the table's; DirectoryStale reports an old table.
    formula: 'IF(FILL(directoryAge, 3600) > 1800, 0, relayDirectoryAge)',
    label: 'Age of the oldest list of groups in a relay, seconds',
    graph: 'Age of the directory in relays',
    // Two listings in it, so that the clock's own jitter leaves none empty.
    periodMinutes: 10,
    breach: ['above', 1_800],
    periods: 2,
    // Every relay says it each minute; without any value there is no relay, which is RelayDisconnected.
    missing: 'notBreaching',
  },
];
