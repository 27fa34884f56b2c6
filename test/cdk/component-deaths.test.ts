/** Whoever dies, somebody is told, and once: each part of a deployment is ended or slowed, and the alarms are asked by their own formulas. */
import { describe, expect, test } from 'vitest';
import { COMPOSITE } from '../../cdk/monitoring/admission-alarms.ts';
import { alarmsFor } from '../../cdk/monitoring/alarms.ts';
import { ALL_ALARMS, EVERY_PART } from '../support/all-alarms.ts';
import { isOnAfter } from '../support/relay/alarm-state.ts';
import { SimulatedSite, type Trouble } from './simulated-site.ts';

const ALARMS = alarmsFor({ ...EVERY_PART, noticesMinutes: 15 });
const HOUR = 60;
/** Past the first night, so that nothing is new any more. */
const BEFORE = 29 * HOUR;
const LOOK_EVERY = 10;

const healthy = new SimulatedSite();
healthy.run(BEFORE);

/** What people are told within so many minutes of the trouble. */
function toldOf(trouble: Trouble, minutes: number, alarms = ALARMS): readonly string[] {
  const site = healthy.copy();
  const told = new Set<string>();
  for (let passed = 0; passed < minutes; passed += LOOK_EVERY) {
    site.run(LOOK_EVERY, trouble);
    for (const spec of alarms)
      if (isOnAfter(spec, site.minutes, site.within)) told.add(spec.notifiedBy ?? spec.name);
  }
  return [...told].sort();
}

test('a deployment that works tells nobody anything, from its second day to its third', () => {
  expect(toldOf({}, 27 * HOUR)).toEqual([]);
});

const PAGE = COMPOSITE.name;

const DEATHS: readonly (readonly [string, string, Trouble, number?])[] = [
  ['all relays stop', PAGE, { relays: 'none' }],
  ['no relay gets a stream', PAGE, { relays: 'no stream' }],
  ['one relay stops', 'RelayMissing', { relays: 'one missing' }],
  ['relays answer late', 'LatencyNearDeadline', { relays: 'late' }],
  ['relays do not understand GitLab any more', PAGE, { relays: 'suspect schema' }],
  ['relays fail by their own mistake', PAGE, { relays: 'own faults' }],
  ['an edit rejects most jobs', 'RejectedShare', { rejected: 0.9 }],
  ['relays do not receive the list of groups', 'RelayDirectoryStale', { relaysWithoutDirectory: true }],
  ['one call of admit in twenty fails', 'AdmitErrors', { admitFails: 0.05 }],
  ['one call of admit in twenty is throttled', 'AdmitErrors', { admitThrottled: 0.05 }],
  ['the table throttles', 'TableThrottled', { tableThrottles: true }],
  ['GitLab sends no webhooks', 'WebhookSilence', { webhooks: 'none' }],
  ['every webhook is refused', 'WebhookSilence', { webhooks: 'all refused' }],
  [
    'thousands of webhooks an hour are refused beside good ones',
    'WebhookSilence',
    { webhooks: 'some refused' },
  ],
  ['half of the webhooks are throttled', 'WebhookSilence', { webhooks: 'throttled' }],
  ['half of the webhooks fail', 'WebhookSilence', { webhooks: 'broken' }],
  ['the source of settle-stream is off', 'WebhookSilence', { settleStream: 'source off' }],
  ['settle-stream fails every batch', 'StreamBehind', { settleStream: 'failing' }],
  ['the source of rollup is off', 'StreamBehind', { rollup: 'source off' }],
  ['rollup fails every batch', 'StreamBehind', { rollup: 'failing' }],
  ['a reader gave something up', 'DeadLetters', { deadLetters: true }],
  ['the rule of the sweep is off', 'SweepFailing', { programs: { sweep: 'rule off' } }],
  ['the sweep fails', 'SweepFailing', { programs: { sweep: 'failing' } }],
  ['GitLab answers nothing, or its token has expired', 'SweepFailing', { gitLabSilent: true }, 6],
  ['the rule of the directory is off', 'DirectoryStale', { programs: { directory: 'rule off' } }],
  ['the directory fails', 'DirectoryStale', { programs: { directory: 'failing' } }],
  ['the rule of the nightly check is off', 'Drift', { programs: { drift: 'rule off' } }, 27],
  ['the nightly check fails', 'Drift', { programs: { drift: 'failing' } }, 27],
  ['the rule of the doctor is off', 'HealthProblems', { programs: { doctor: 'rule off' } }],
  ['the doctor fails', 'HealthProblems', { programs: { doctor: 'failing' } }],
  ['the doctor finds a webhook that is missing', 'HealthProblems', { healthProblems: 1 }],
  ['the rule of ssm-limits is off', 'ConsoleFailing', { programs: { 'ssm-limits': 'rule off' } }],
  ['ssm-limits fails', 'ConsoleFailing', { programs: { 'ssm-limits': 'failing' } }],
  ['the rule of the notices is off', 'ConsoleFailing', { programs: { notices: 'rule off' } }],
  ['the rule of the retries is off', 'ConsoleFailing', { programs: { requeue: 'rule off' } }],
  ['the retries fail', 'ConsoleFailing', { programs: { requeue: 'failing' } }],
  ['the notices fail', 'ConsoleFailing', { programs: { notices: 'failing' } }],
  ['the console breaks', 'ConsoleFailing', { console: 'broken' }],
  ['the console is throttled', 'ConsoleFailing', { console: 'throttled' }],
  ['the rule of the watchdog is off', 'WatchdogFailing', { programs: { watchdog: 'rule off' } }],
  ['the watchdog fails, or its token has expired', 'WatchdogFailing', { programs: { watchdog: 'failing' } }],
];

test.each(DEATHS.map(([what, alarm, trouble, hours = 4]) => ({ what, alarm, trouble, hours })))(
  '$what: $alarm and nothing else',
  ({ alarm, trouble, hours }) => {
    expect(toldOf(trouble, hours * HOUR)).toEqual([alarm]);
  },
);

describe('where jobs already run without the ledger, one page comes beside the ticket that names who failed', () => {
  test.each<readonly [string, Trouble]>([
    ['admit fails every call', { admitFails: 1 }],
    ['admit is throttled throughout', { admitThrottled: 1 }],
  ])('%s', (_, trouble) => {
    expect(toldOf(trouble, 30)).toEqual([PAGE, 'AdmitErrors']);
    // Relays receive the list of groups from the same function, and keep theirs for half an hour.
    expect(toldOf(trouble, 4 * HOUR)).toEqual([PAGE, 'AdmitErrors', 'RelayDirectoryStale']);
  });
});

describe('owners who are told more seldom than every quarter of an hour', () => {
  test('do not go without unnoticed', () => {
    expect(toldOf({}, 4 * HOUR, ALL_ALARMS)).toEqual([]);
    expect(toldOf({ programs: { notices: 'rule off' } }, 4 * HOUR, ALL_ALARMS)).toEqual(['NoticesSilent']);
  });

  test('are an alarm only of such a deployment', () => {
    expect(ALARMS.map(({ name }) => name)).not.toContain('NoticesSilent');
  });
});

test('a new deployment is not blamed for nights before it', () => {
  const site = new SimulatedSite();
  const drift = ALARMS.find(({ name }) => name === 'Drift');
  if (drift === undefined) throw new Error('no alarm for drift');
  for (let hour = 0; hour < 48; hour += 1) {
    site.run(HOUR);
    expect([hour, isOnAfter(drift, site.minutes, site.within)]).toEqual([hour, false]);
  }
});
