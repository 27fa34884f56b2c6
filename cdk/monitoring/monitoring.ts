import { Duration, Tags } from 'aws-cdk-lib';
import { Dashboard, PeriodOverride } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Programs } from '../constructs/programs.ts';
import type { RelayService } from '../constructs/relay-service.ts';
import type { Settings } from '../settings/deployment.ts';
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

export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { settings, relay } = props;
    const { runbookUrl } = settings.alarms;
    const watched = {
      relays: settings.relay.count,
      deadlineMs: settings.relay.deadlineMs,
      failurePolicy: settings.relay.failurePolicy,
      watchdog: settings.watchdog,
      console: settings.console !== undefined,
      requeue: settings.parameters.requeueTokens !== undefined,
      noticesMinutes: settings.notices.everyMinutes,
      metrics: settings.metrics,
    };
    const { stage, metrics: ownMetrics } = settings;
    const metrics = metricsOf({ deployment: stage, ownMetrics, dimensions: dimensionsOf(props) });
    const specs = alarmsFor(watched);
    const place = new Construct(this, 'Alarms');
    const alarms = addAlarms(place, stage, specs, metrics, props.topicArns, runbookUrl);
    // Create alarms after the relays, because their first start would look like silence.
    place.node.addDependency(relay.service);
    const deps = { specs, metrics, logGroupName: relay.logGroup.logGroupName, runbookUrl };
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: `tollgate-${settings.stage}`,
      defaultInterval: SHOWN,
      // Thresholds are those of the alarms' periods: other ones would show other heights.
      periodOverride: PeriodOverride.INHERIT,
      widgets: [
        ...glanceWidgets({ settings, alarms, metrics }),
        ...rowsFor(watched).flatMap((row) => rowWidgets(row, deps)),
      ].map((row) => [...row]),
    });
    // CloudFormation takes a dashboard's tags in few regions yet, and cfn-lint in none.
    Tags.of(dashboard).remove('tollgate:stage');
  }
}

function dimensionsOf({ table, relay, programs }: MonitoringProps): MetricsOptions['dimensions'] {
  const of: Record<string, Readonly<Record<string, string>>> = {
    table: { TableName: table.tableName },
    'relay-service': { ClusterName: relay.cluster.clusterName, ServiceName: relay.service.serviceName },
  };
  for (const [name, program] of Object.entries(programs.all)) {
    of[`function/${name}`] = { FunctionName: program.fn.functionName };
  }
  for (const [name, { deadLetters }] of Object.entries(programs.readers)) {
    of[`dead-letters/${name}`] = { QueueName: deadLetters.queueName };
  }
  return of;
}
