import { Duration, Tags } from 'aws-cdk-lib';
import { Dashboard, PeriodOverride } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Programs } from '../constructs/programs.ts';
import type { RelayService } from '../constructs/relay-service.ts';
import type { Settings } from '../settings/deployment.ts';
import type { AlarmInput } from './admission-alarms.ts';
import { addAlarms, type MetricsOptions, metricsOf } from './alarm-set.ts';
import { alarmsFor } from './alarms.ts';
import { glanceWidgets, rowWidgets } from './dashboard.ts';
import { rowsFor } from './dashboard-rows.ts';

interface MonitoringProps {
  readonly settings: Settings;
  readonly table: ITable;
  readonly relay: RelayService;
  readonly programs: Programs;
  readonly topicArns: readonly string[];
}

/** A dashboard opened at 3 a.m. shows the evening before. */
const SHOWN = Duration.hours(6);

export function addMonitoring(scope: Construct, props: MonitoringProps): void {
  const { settings, relay } = props;
  const { stage, metrics: ownMetrics, alarms: targets } = settings;
  const input: AlarmInput = {
    relays: settings.relay.count,
    deadlineMs: settings.relay.deadlineMs,
    failurePolicy: settings.relay.failurePolicy,
    watchdog: settings.watchdog,
    console: settings.console !== undefined,
    requeue: settings.parameters.requeueTokens !== undefined,
    noticesMinutes: settings.notices.everyMinutes,
    metrics: ownMetrics,
  };
  const metrics = metricsOf({ deployment: stage, ownMetrics, dimensions: dimensionsOf(props) });
  const specs = alarmsFor(input);
  const root = new Construct(scope, 'Monitoring');
  const place = new Construct(root, 'Alarms');
  const alarms = addAlarms(place, stage, specs, metrics, props.topicArns, targets.runbookUrl);
  // Create alarms after the relays, because their first start would look like silence.
  place.node.addDependency(relay.service);
  const { logGroupName } = relay.logGroup;
  const deps = { specs, metrics, logGroupName, runbookUrl: targets.runbookUrl };
  const dashboard = new Dashboard(root, 'Dashboard', {
    dashboardName: `tollgate-${stage}`,
    defaultInterval: SHOWN,
    // Thresholds are those of the alarms' periods: other ones would show other heights.
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      ...glanceWidgets(settings, alarms, metrics),
      ...rowsFor(input).flatMap((row) => rowWidgets(row, deps)),
    ].map((row) => [...row]),
  });
  // CloudFormation takes a dashboard's tags in few regions yet, and cfn-lint in none.
  Tags.of(dashboard).remove('tollgate:stage');
}

const dimensionsOf = ({ table, relay, programs }: MonitoringProps): MetricsOptions['dimensions'] => ({
  table: { TableName: table.tableName },
  'relay-service': { ClusterName: relay.cluster.clusterName, ServiceName: relay.service.serviceName },
  ...Object.fromEntries([
    ...Object.entries(programs.all).map(([name, { fn }]) => [
      `function/${name}`,
      { FunctionName: fn.functionName },
    ]),
    ...Object.entries(programs.deadLetters).map(([name, { queueName }]) => [
      `dead-letters/${name}`,
      { QueueName: queueName },
    ]),
  ]),
});
