import { describe, expect, test } from 'vitest';
import { COMPOSITE } from '../../cdk/monitoring/admission-alarms.ts';
import { monitoringCounts, rolloutAlarms } from '../../cdk/monitoring/alarms.ts';
import { headingAnchor } from '../../cdk/monitoring/runbook.ts';
import { METRIC_NAMESPACE } from '../../functions/names.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { alarmsOf, PAGER, RUNBOOK_URL, UNMEASURED, WATCHED } from './monitored.ts';
import { DEFAULTS, synthesize } from './synthesized.ts';

const [standard, watched, unmeasured] = [synthesize(DEFAULTS), synthesize(WATCHED), synthesize(UNMEASURED)];

const shape = {
  relays: 2,
  deadlineMs: 2_000,
  failurePolicy: 'admit',
  watchdog: false,
  console: false,
  noticesMinutes: 15,
  metrics: true,
} as const;
const SHAPE_OF_WATCHED = { ...shape, watchdog: true, console: true, requeue: true, noticesMinutes: 60 };
const PROGRAMS = ['admit', 'settle', 'console'] as const;
const ROLLOUTS = PROGRAMS.flatMap((program) => rolloutAlarms(program, true));
const TICKETS = ALL_ALARMS.filter(({ notifiedBy }) => notifiedBy === undefined).map(({ name }) => name);

describe('every alarm', () => {
  test('says how bad it is, what is wrong and where to read on', () => {
    for (const { AlarmName, AlarmDescription } of alarmsOf(watched)) {
      const name = AlarmName.replace('tollgate-prod-', '');
      const spec = [...ALL_ALARMS, ...ROLLOUTS].find((each) => each.name === name);
      const place = `${RUNBOOK_URL}#${headingAnchor(spec?.runbook ?? name)}`;
      expect(AlarmDescription).toBe(`${spec?.severity.toUpperCase()}: ${spec?.says} What to do: ${place}`);
      // CloudWatch takes 1024 characters.
      expect(AlarmDescription.length).toBeLessThan(1_000);
    }
  });

  test('tells every topic when it goes on and when it goes off, unless the page does', () => {
    const topics = [expect.stringMatching(/"OperatorsTopic|:tollgate-prod-alarms"/), PAGER];
    const told = alarmsOf(watched).filter(({ AlarmActions }) => AlarmActions !== undefined);
    expect(told.map(({ AlarmName }) => AlarmName.replace('tollgate-prod-', ''))).toEqual(
      expect.arrayContaining(TICKETS),
    );
    expect(told).toHaveLength(TICKETS.length);
    for (const { AlarmActions, OKActions } of told)
      for (const [own, pager] of [AlarmActions, OKActions])
        expect([JSON.stringify(own), pager]).toEqual(topics);
  });

  test('looks at no more than CloudWatch looks back: a day, or a week for periods of an hour', () => {
    const daysMax = (periodMinutes: number): number => (periodMinutes >= 60 ? 7 : 1);
    const over = ALL_ALARMS.filter(
      (each) => each.periods * each.periodMinutes > daysMax(each.periodMinutes) * 1440,
    );
    expect(over).toEqual([]);
  });
});

describe('a page', () => {
  test('is one for one outage: its alarms tell nobody themselves', () => {
    const told = ALL_ALARMS.filter(({ notifiedBy }) => notifiedBy === COMPOSITE.name).map(({ name }) => name);
    expect(told).toEqual(['RelayDisconnected', 'FallbackShare', 'SchemaSuspect', 'OwnFaults']);
    const [[, composite] = [], ...others] = watched.resources('AWS::CloudWatch::CompositeAlarm');
    expect(others).toEqual([]);
    const rule = JSON.stringify(composite?.Properties.AlarmRule);
    expect(rule.match(/(?<=:alarm:tollgate-prod-)\w+/g)).toEqual(told);
    expect(rule).toContain(' OR ');
    expect(composite?.Properties).toMatchObject({
      AlarmName: 'tollgate-prod-AdmissionsNotAnswered',
      AlarmActions: [expect.anything(), PAGER],
      OKActions: [expect.anything(), PAGER],
    });
  });

  test('does not come before the relays of a first deployment had time to start', () => {
    const silent = standard
      .resources('AWS::CloudWatch::Alarm')
      .filter(([, { Properties }]) => Properties.TreatMissingData === 'breaching');
    expect(silent.length).toBeGreaterThan(3);
    for (const [, { DependsOn }] of [...silent, ...standard.resources('AWS::CloudWatch::CompositeAlarm')])
      expect(JSON.stringify(DependsOn)).toMatch(/RelayService|RelayDisconnected/);
  });
});

describe('a new version', () => {
  test.each(PROGRAMS)('of %s gets a tenth of the calls, and its own alarms take it back', (program) => {
    const of = (type: string) =>
      watched
        .resources(type)
        .filter(([id]) => id.toLowerCase().includes(`/${program}program`))
        .map(([, each]) => each);
    const [group] = of('AWS::CodeDeploy::DeploymentGroup');
    expect(group?.Properties.DeploymentConfigName).toMatch(/Canary10Percent5Minutes$/);
    expect(group?.Properties.AlarmConfiguration.Alarms.map(({ Name }: { Name: string }) => Name)).toEqual(
      of('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmName),
    );
    const [alias] = of('AWS::Lambda::Alias');
    expect(alias?.UpdatePolicy).toHaveProperty('CodeDeployLambdaAliasUpdate');
    const [url] = of('AWS::Lambda::Url');
    expect(url?.Properties.Qualifier).toBe('live');
    expect(JSON.stringify(of('AWS::CloudWatch::Alarm'))).toContain('"ExecutedVersion"');
  });

  test('gets all calls immediately where that is set, past every alarm', () => {
    const { resources } = synthesize(WATCHED.map((each) => ({ ...each, rollout: 'all-at-once' })));
    expect(resources('AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
    const aliases = resources('AWS::Lambda::Alias').map(([, each]) => each);
    expect(aliases.map(({ UpdatePolicy }) => UpdatePolicy)).toEqual([undefined, undefined, undefined]);
  });
});

describe('a deployment of another shape', () => {
  test('without metrics of ours has alarms on those of AWS alone, so none that would wait for ever', () => {
    const left = alarmsOf(unmeasured).map(({ AlarmName }) => AlarmName.replace('tollgate-prod-', ''));
    expect(left).toEqual([
      'SettleRollout',
      'AdmitRollout',
      'ConsoleRollout',
      'AdmitErrors',
      'TableThrottled',
      'DeadLetters',
      'NoticesSilent',
      'WatchdogFailing',
      'ConsoleFailing',
    ]);
    expect(JSON.stringify(alarmsOf(unmeasured))).not.toContain(`"${METRIC_NAMESPACE}"`);
    expect(unmeasured.resources('AWS::CloudWatch::CompositeAlarm')).toEqual([]);
  });
});

/** An alarm's template has one, or for arithmetic as many as it is made of. */
const metricsIn = (alarm: { readonly Metrics?: readonly { readonly MetricStat?: object }[] }): number =>
  alarm.Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;

test.each([
  ['default', standard, shape],
  ['watched', watched, SHAPE_OF_WATCHED],
  ['unmeasured', unmeasured, { ...SHAPE_OF_WATCHED, metrics: false }],
] as const)('the cost command counts what the %s template has', (_, synthesized, counted) => {
  const alarms = alarmsOf(synthesized);
  expect(monitoringCounts(counted)).toMatchObject({
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((sum: number, each) => sum + metricsIn(each), 0),
    compositeAlarms: synthesized.resources('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: synthesized.resources('AWS::CloudWatch::Dashboard').length,
  });
});
