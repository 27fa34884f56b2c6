import type { AlarmSpec, Watched } from './alarm-spec.ts';

/** What people own limits by. By AWS's own metrics: they cost nothing and are there when ours are not. */
export const deskFailing = ({ console, notices }: Watched): AlarmSpec => ({
  name: 'DeskFailing',
  severity: 'ticket',
  says: 'People cannot see or change limits or are not told: the console breaks, or what runs for limits by the clock fails or does not run.',
  formula: [
    'ssmLimitsErrors',
    // They may run less often than once in a period.
    ...(notices ? ['FILL(noticesErrors, 0)'] : []),
    // Where nobody looked, nothing broke.
    ...(console ? ['FILL(consoleBroken, 0)'] : []),
  ].join(' + '),
  label: 'Pages and runs that failed',
  // Some runs of each in it, so that the clock's own jitter leaves none empty.
  periodMinutes: 15,
  breach: ['above', 0],
  // One failure is somebody's reload, or the next run's.
  periods: 2,
  // Lambda counts the errors of each run, zero included, and limits are looked for every five minutes: no value is no run.
  missing: 'breaching',
});
