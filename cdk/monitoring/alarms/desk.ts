import type { AlarmInput, AlarmSpec } from './alarm-spec.ts';

/** Some runs of each program in it, so that the clock's own jitter leaves none empty. */
const PERIOD_MINUTES = 15;
/** ssm-limits runs once in five minutes. */
const RUN_MINUTES = 5;

/** Alarms of the console and the notices. They use AWS metrics, which are free and independent of ours. */
export const deskAlarms = (watched: AlarmInput): readonly AlarmSpec[] => [
  deskFailing(watched),
  ...(watched.notices && minutesOf(watched) > PERIOD_MINUTES ? [noticesSilent(minutesOf(watched))] : []),
];

const minutesOf = ({ noticesMinutes = PERIOD_MINUTES }: AlarmInput): number => noticesMinutes;

const deskFailing = (watched: AlarmInput): AlarmSpec => ({
  name: 'DeskFailing',
  severity: 'ticket',
  says: 'People cannot see or change limits or are not told: the console breaks, or what runs for limits and retries by the clock fails or does not run.',
  formula: [
    'ssmLimitsErrors',
    ...(watched.notices ? [noticesIn(watched)] : []),
    ...(watched.requeue ? ['requeueErrors'] : []),
    // Without requests nothing failed.
    ...(watched.console ? ['FILL(consoleBroken, 0)', 'FILL(consoleThrottles, 0)'] : []),
  ].join(' + '),
  label: 'Pages and runs that failed',
  graph: 'Pages and runs that failed',
  periodMinutes: PERIOD_MINUTES,
  breach: ['above', 0],
  // A single failure is fixed by a reload or the next run.
  periods: 2,
  // Lambda counts the errors of each run, zero included, and each of these runs in every period: no value is no run.
  missing: 'breaching',
});

/** If they run less often than once per period, NoticesSilent covers it. */
const noticesIn = (watched: AlarmInput): string =>
  minutesOf(watched) > PERIOD_MINUTES ? 'FILL(noticesErrors, 0)' : 'noticesErrors';

/** Used only if notices run less often than every quarter of an hour. */
const noticesSilent = (everyMinutes: number): AlarmSpec => {
  const periodMinutes = 2 * everyMinutes;
  // Allow missing runs: a deployment may skip one.
  const runs = Math.floor((0.9 * periodMinutes) / RUN_MINUTES);
  return {
    name: 'NoticesSilent',
    severity: 'ticket',
    says: 'Owners of limits are not told what happened to them: the program that does has missed two of its times.',
    // A whole period of runs of the other program by the clock: so long the deployment is there.
    formula: `IF(FILL(ssmLimitsCalls, 0) < ${runs}, 1, FILL(noticesCalls, 0))`,
    label: 'Times that owners were told what happened',
    graph: 'Times that owners were told',
    periodMinutes,
    breach: ['below', 1],
    periods: 1,
    // Neither of both ran, which is DeskFailing.
    missing: 'notBreaching',
  };
};
