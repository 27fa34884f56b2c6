import { beforeAll, describe, expect, test } from 'vitest';
import { COMPOSITE } from '../../cdk/monitoring/alarms/alarm-spec.ts';
import { alarmsFor } from '../../cdk/monitoring/alarms/alarms.ts';
import { SERIES, seriesIn } from '../../cdk/monitoring/series.ts';
import { FUNCTION_METRICS, METRIC_DIMENSION, METRIC_NAMESPACE } from '../../functions/names.ts';
import { RELAY_METRICS } from '../../relay/names.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { alarmsOf, PAGER, RUNBOOK_URL, UNMEASURED, WATCHED } from './monitored.ts';
import { BUNDLES, DEFAULTS, type Synthesized, synthesize } from './synthesized.ts';

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
const TICKETS = ALL_ALARMS.filter(({ toldBy }) => toldBy === undefined).map(({ name }) => name);

describe('the alarms of the default shape', () => {
  test('are at most twenty-nine: more are not read', () => {
    expect(alarmsOf(standard)).toHaveLength(alarmsFor(shape).length);
    expect(alarmsFor(shape).length).toBeLessThanOrEqual(29);
  });
});

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

  test('says it in one sentence', () => {
    for (const { says } of [...ALL_ALARMS, COMPOSITE]) expect(says).toMatch(/^[A-Z].*[^.]\.$/);
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

  test('is only built on what somebody measures', () => {
    const ours = [...FUNCTION_METRICS, ...RELAY_METRICS].map(({ name }) => name) as readonly string[];
    for (const series of Object.values(SERIES)) {
      if (series.from === 'tollgate') expect(ours).toContain(series.name);
    }
    for (const { name, formula } of ALL_ALARMS)
      expect([name, seriesIn(formula).length > 0]).toEqual([name, true]);
  });

  test('looks at the metrics of its own deployment', () => {
    for (const { Namespace, Dimensions, Metrics } of alarmsOf(standard)) {
      const stats = Metrics?.map((each: { MetricStat?: { Metric: unknown } }) => each.MetricStat?.Metric) ?? [
        { Namespace, Dimensions },
      ];
      for (const each of stats) {
        if (each?.Namespace === METRIC_NAMESPACE) {
          expect(each.Dimensions).toEqual([{ Name: METRIC_DIMENSION, Value: 'prod' }]);
        }
      }
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

  test('comes when relays say nothing at all, and nothing else that is silent wakes anybody', () => {
    const breaching = ALL_ALARMS.filter(({ missing }) => missing === 'breaching').map(({ name }) => name);
    expect(breaching).toEqual([
      'RelayDisconnected',
      'SweepFailing',
      'WatchdogFailing',
      'DirectoryStale',
      'DeskFailing',
    ]);
    const pages = ALL_ALARMS.filter(({ severity, toldBy }) => severity === 'page' && toldBy === undefined);
    expect(pages.map(({ name, missing }) => [name, missing])).toEqual([
      ['AdmittedYetFailed', 'notBreaching'],
      ['RejectedShare', 'notBreaching'],
    ]);
  });

  test('does not come before the relays of a first deployment had time to start', () => {
    const found = standard
      .resources('AWS::CloudWatch::Alarm')
      .filter(([, { DependsOn }]) => !JSON.stringify(DependsOn ?? []).includes('RelayService'));
    expect(found).toEqual([]);
  });
});

describe('a deployment of another shape', () => {
  test('with one relay has no alarm for a missing second one', () => {
    expect(alarmsFor({ ...shape, relays: 1 }).map(({ name }) => name)).not.toContain('RelayMissing');
  });

  test('has the threshold of its own deadline', () => {
    const latency = alarmsFor({ ...shape, deadlineMs: 4_000 }).find(
      ({ name }) => name === 'LatencyNearDeadline',
    );
    expect(latency?.breach).toEqual(['above', 3_000]);
  });

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

test('functions and relays are told the name that alarms look for', () => {
  const told = [
    ...watched
      .resources('AWS::Lambda::Function')
      .map(([, { Properties }]) => Properties.Environment.Variables.TOLLGATE_DEPLOYMENT),
    ...watched
      .resources('AWS::ECS::TaskDefinition')
      .flatMap(([, { Properties }]) => Properties.ContainerDefinitions)
      .flatMap(({ Environment }) =>
        Environment.filter(({ Name }: { Name: string }) => Name === 'TOLLGATE_DEPLOYMENT').map(
          ({ Value }: { Value: string }) => Value,
        ),
      ),
  ];
  // Each function and the relay.
  expect(told).toEqual(Array.from({ length: BUNDLES.length + 1 }, () => 'prod'));
});
