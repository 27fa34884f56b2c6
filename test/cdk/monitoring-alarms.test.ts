import { beforeAll, describe, expect, test } from 'vitest';
import { COMPOSITE } from '../../cdk/monitoring/alarms/alarm-spec.ts';
import { monitoringCounts } from '../../cdk/monitoring/alarms/alarms.ts';
import { METRIC_NAMESPACE } from '../../functions/names.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { alarmsOf, PAGER, RUNBOOK_URL, UNMEASURED, WATCHED } from './monitored.ts';
import { DEFAULTS, type Synthesized, synthesize } from './synthesized.ts';

let standard: Synthesized;
let watched: Synthesized;
let unmeasured: Synthesized;
beforeAll(() => {
  standard = synthesize(DEFAULTS);
  watched = synthesize(WATCHED);
  unmeasured = synthesize(UNMEASURED);
});

const shape = {
  relays: 2,
  deadlineMs: 2_000,
  failurePolicy: 'admit',
  watchdog: false,
  console: false,
  notices: true,
  metrics: true,
} as const;
const SHAPE_OF_WATCHED = { ...shape, watchdog: true, console: true, requeue: true, noticesMinutes: 60 };
const TICKETS = ALL_ALARMS.filter(({ toldBy }) => toldBy === undefined).map(({ name }) => name);

describe('every alarm', () => {
  test('says how bad it is, what is wrong and where to read on', () => {
    for (const { AlarmName, AlarmDescription } of alarmsOf(watched)) {
      const name = AlarmName.replace('tollgate-prod-', '');
      const spec = ALL_ALARMS.find((each) => each.name === name);
      const place = `${RUNBOOK_URL}#${name.toLowerCase()}`;
      expect(AlarmDescription).toBe(`${spec?.severity.toUpperCase()}: ${spec?.says} What to do: ${place}`);
      // CloudWatch takes 1024 characters.
      expect(AlarmDescription.length).toBeLessThan(1_000);
    }
  });

  test.each(TICKETS)('%s tells every topic when it goes on and when it goes off', (name) => {
    const made = alarmsOf(watched).find(({ AlarmName }) => AlarmName === `tollgate-prod-${name}`);
    for (const actions of [made.AlarmActions, made.OKActions]) {
      expect(actions).toEqual([{ Ref: expect.stringMatching(/^OperatorsTopic/) }, PAGER]);
    }
  });

  test('looks at no more than CloudWatch looks back: a day, or a week for periods of an hour', () => {
    for (const { name, periods, periodMinutes } of ALL_ALARMS) {
      const daysMax = periodMinutes >= 60 ? 7 : 1;
      expect([name, periods * periodMinutes <= daysMax * 24 * 60]).toEqual([name, true]);
    }
  });
});

describe('a page', () => {
  test('is one for one outage: its alarms tell nobody themselves', () => {
    const told = ALL_ALARMS.filter(({ toldBy }) => toldBy === COMPOSITE.name).map(({ name }) => name);
    expect(told).toEqual(['RelayDisconnected', 'FallbackShare', 'SchemaSuspect', 'OwnFaults']);
    for (const name of told) {
      const made = alarmsOf(watched).find(({ AlarmName }) => AlarmName === `tollgate-prod-${name}`);
      expect(made).not.toHaveProperty('AlarmActions');
    }
    const [[, composite] = [], ...others] = watched.resources('AWS::CloudWatch::CompositeAlarm');
    expect(others).toEqual([]);
    const rule = JSON.stringify(composite?.Properties.AlarmRule);
    expect(rule.match(/MonitoringAlarms[A-Za-z]+/g)?.map((id) => id.replace('MonitoringAlarms', ''))).toEqual(
      told.map((name) => expect.stringMatching(new RegExp(`^${name}`))),
    );
    expect(rule).toContain(' OR ');
    expect(composite?.Properties).toMatchObject({
      AlarmName: 'tollgate-prod-AdmissionsNotAnswered',
      AlarmActions: [expect.anything(), PAGER],
      OKActions: [expect.anything(), PAGER],
    });
  });

  test('does not come before the relays of a first deployment had time to start', () => {
    const found = standard
      .resources('AWS::CloudWatch::Alarm')
      .filter(([, { DependsOn }]) => !JSON.stringify(DependsOn ?? []).includes('RelayService'));
    expect(found).toEqual([]);
  });
});

describe('a deployment of another shape', () => {
  test('without metrics of ours has alarms on those of AWS alone, so none that would wait for ever', () => {
    const left = alarmsOf(unmeasured).map(({ AlarmName }) => AlarmName.replace('tollgate-prod-', ''));
    expect(left).toEqual([
      'AdmitErrors',
      'TableThrottled',
      'DeadLetters',
      'WatchdogFailing',
      'DeskFailing',
      'NoticesSilent',
    ]);
    expect(JSON.stringify(alarmsOf(unmeasured))).not.toContain(`"${METRIC_NAMESPACE}"`);
    expect(unmeasured.resources('AWS::CloudWatch::CompositeAlarm')).toEqual([]);
  });
});

/** An alarm's template has one, or for arithmetic as many as it is made of. */
const metricsIn = (alarm: { readonly Metrics?: readonly { readonly MetricStat?: object }[] }): number =>
  alarm.Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;

test.each([
  ['default', () => standard, shape],
  ['watched', () => watched, SHAPE_OF_WATCHED],
  ['unmeasured', () => unmeasured, { ...SHAPE_OF_WATCHED, metrics: false }],
] as const)('the cost command counts what the %s template has', (_, synthesized, counted) => {
  const alarms = alarmsOf(synthesized());
  expect(monitoringCounts(counted)).toMatchObject({
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((sum: number, each) => sum + metricsIn(each), 0),
    compositeAlarms: synthesized().resources('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: synthesized().resources('AWS::CloudWatch::Dashboard').length,
  });
});
