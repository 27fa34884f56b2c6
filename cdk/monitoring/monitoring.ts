import { Duration, Tags } from 'aws-cdk-lib';
import { Dashboard, PeriodOverride } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct, type IDependable } from 'constructs';
import { deadLettersName, functionName, RELAY_SERVICE, relayClusterName } from '../constructs/names.ts';
import { programRows } from '../constructs/program-rows.ts';
import type { Settings } from '../settings/deployment.ts';
import type { StateStack } from '../state-stack.ts';
import { type AlarmInput, COMPOSITE } from './admission-alarms.ts';
import { addAlarms, addComposite, type MetricsOptions, metricsOf, namedAlarms } from './alarm-set.ts';
import { type AlarmSpec, alarmsFor } from './alarms.ts';
import { glanceWidgets, rowWidgets } from './dashboard.ts';
import { rowsFor } from './dashboard-rows.ts';

interface MonitoringProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly topicArns: readonly string[];
}

/** A dashboard opened at 3 a.m. shows the evening before. */
const SHOWN = Duration.hours(6);

const needsSilence = ({ missing }: AlarmSpec): boolean => missing === 'breaching';

/** The dashboard, and the alarms that need a value to be on. */
export function addMonitoring(scope: Construct, props: MonitoringProps): void {
  const { settings, state } = props;
  const { input, specs, ...alarms } = alarmsOf(props);
  const root = new Construct(scope, 'Monitoring');
  const loud = specs.filter((spec) => !needsSilence(spec));
  addAlarms(new Construct(root, 'Alarms'), loud, alarms);
  const { metrics, runbookUrl } = alarms;
  const deps = { specs, metrics, logGroupName: state.decisionLog.logGroupName, runbookUrl };
  const shown = specs.some(({ notifiedBy }) => notifiedBy !== undefined) ? [COMPOSITE, ...specs] : specs;
  const dashboard = new Dashboard(root, 'Dashboard', {
    dashboardName: `tollgate-${settings.stage}`,
    defaultInterval: SHOWN,
    // Thresholds are those of the alarms' periods: other ones would show other heights.
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      ...glanceWidgets(settings, namedAlarms(new Construct(root, 'Shown'), settings.stage, shown), metrics),
      ...rowsFor(input).flatMap((row) => rowWidgets(row, deps)),
    ].map((row) => [...row]),
  });
  // CloudFormation takes a dashboard's tags in few regions yet, and cfn-lint in none.
  Tags.of(dashboard).remove('tollgate:stage');
}

/** The other alarms and the page. Made after `relays`, because their first start would look like silence. */
export function addSilenceAlarms(scope: Construct, props: MonitoringProps, relays: IDependable): void {
  const { specs, input: _, ...alarms } = alarmsOf(props);
  const root = new Construct(scope, 'Monitoring');
  const [single, page] = [new Construct(root, 'Alarms'), new Construct(root, 'Page')];
  addAlarms(single, specs.filter(needsSilence), alarms);
  addComposite(page, specs, alarms);
  single.node.addDependency(relays);
  page.node.addDependency(single);
}

function alarmsOf({ settings, state, topicArns }: MonitoringProps) {
  const { stage, metrics: ownMetrics } = settings;
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
  const dimensions = dimensionsOf(settings, state.ledger.table.tableName);
  const metrics = metricsOf({ deployment: stage, ownMetrics, dimensions });
  return {
    ...{ input, stage, metrics, topicArns },
    specs: alarmsFor(input),
    runbookUrl: settings.alarms.runbookUrl,
  };
}

const dimensionsOf = (settings: Settings, tableName: string): MetricsOptions['dimensions'] => ({
  table: { TableName: tableName },
  'relay-service': { ClusterName: relayClusterName(settings.stage), ServiceName: RELAY_SERVICE },
  ...Object.fromEntries(
    Object.entries(programRows(settings)).flatMap(([name, { isDeployed, stream }]) => {
      const fn = [`function/${name}`, { FunctionName: functionName(settings.stage, name) }];
      const letters = [`dead-letters/${name}`, { QueueName: deadLettersName(settings.stage, name) }];
      return [...(isDeployed === false ? [] : [fn]), ...(stream === undefined ? [] : [letters])];
    }),
  ),
});
