import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../functions/names.ts';
import { alarmName } from '../constructs/names.ts';
import { COMPOSITE } from './admission-alarms.ts';
import type { AlarmSpec } from './alarms.ts';
import { runbookPlace } from './runbook.ts';
import { type MetricSubject, SERIES, type Series, type SeriesName, seriesIn } from './series.ts';

export type DeploymentMetrics = ReturnType<typeof metricsOf>;

export interface MetricsOptions {
  readonly deployment: string;
  /** False: no formula has a metric of ours in it. */
  readonly ownMetrics: boolean;
  readonly dimensions: Readonly<Partial<Record<MetricSubject, Readonly<Record<string, string>>>>>;
}

export function metricsOf({ deployment, ownMetrics, dimensions }: MetricsOptions) {
  const dimensionsOf = (series: Series): Readonly<Record<string, string>> | undefined => {
    if (series.from === 'aws') return dimensions[series.of];
    return ownMetrics ? { [METRIC_DIMENSION]: deployment } : undefined;
  };

  function metric(word: SeriesName, periodMinutes: number, label?: string): cloudwatch.Metric {
    const series: Series = SERIES[word];
    const dimensionsMap = dimensionsOf(series);
    if (dimensionsMap === undefined) throw new Error(`the series ${word} is about something not deployed`);
    return new cloudwatch.Metric({
      namespace: series.from === 'aws' ? series.namespace : METRIC_NAMESPACE,
      metricName: series.name,
      dimensionsMap,
      statistic: series.statistic,
      period: Duration.minutes(periodMinutes),
      ...(label !== undefined && { label }),
    });
  }

  return {
    has: (formula: string): boolean =>
      seriesIn(formula).every((word) => dimensionsOf(SERIES[word]) !== undefined),
    /** @throws {Error} if the formula names something that is not deployed. */
    of: (
      formula: string,
      { periodMinutes, label }: { readonly periodMinutes: number; readonly label: string },
    ): cloudwatch.IMetric => {
      const words = seriesIn(formula);
      const [word] = words;
      if (word === formula) return metric(word, periodMinutes, label);
      return new cloudwatch.MathExpression({
        expression: formula,
        usingMetrics: Object.fromEntries(words.map((each) => [each, metric(each, periodMinutes)])),
        period: Duration.minutes(periodMinutes),
        label,
      });
    },
  };
}

const OPERATORS = {
  above: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
  below: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
} as const;
const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;

export interface AlarmProps {
  readonly stage: string;
  readonly metrics: DeploymentMetrics;
  readonly topicArns: readonly string[];
  readonly runbookUrl: string | undefined;
}

export function addAlarms(scope: Construct, specs: readonly AlarmSpec[], props: AlarmProps): void {
  for (const spec of specs) {
    const { name, formula, label, periodMinutes, periods } = spec;
    const [direction, threshold] = spec.breach;
    const alarm = new cloudwatch.Alarm(scope, name, {
      alarmName: alarmName(props.stage, name),
      alarmDescription: describe(spec, props),
      metric: props.metrics.of(formula, { periodMinutes, label }),
      comparisonOperator: OPERATORS[direction],
      threshold,
      evaluationPeriods: periods,
      datapointsToAlarm: spec.breaching,
      treatMissingData: spec.missing === 'breaching' ? BREACHING : NOT_BREACHING,
    });
    if (spec.notifiedBy === undefined) notify(alarm, props);
  }
}

/** The page: its alarms, in whichever stack, are known by name. */
export function addComposite(scope: Construct, specs: readonly AlarmSpec[], props: AlarmProps): void {
  const together = specs.filter(({ notifiedBy }) => notifiedBy !== undefined);
  if (together.length === 0) return;
  const alarms = namedAlarms(new Construct(scope, 'Together'), props.stage, together);
  const composite = new cloudwatch.CompositeAlarm(scope, COMPOSITE.name, {
    compositeAlarmName: alarmName(props.stage, COMPOSITE.name),
    alarmDescription: describe(COMPOSITE, props),
    alarmRule: cloudwatch.AlarmRule.anyOf(...alarms),
  });
  notify(composite, props);
}

export const namedAlarms = (
  scope: Construct,
  stage: string,
  specs: readonly Pick<AlarmSpec, 'name'>[],
): readonly cloudwatch.IAlarm[] =>
  specs.map(({ name }) => cloudwatch.Alarm.fromAlarmName(scope, name, alarmName(stage, name)));

/** The first word is the severity, so that subscription filters can separate pages from tickets. */
const describe = (
  { name, runbook = name, severity, says }: Pick<AlarmSpec, 'name' | 'runbook' | 'severity' | 'says'>,
  { runbookUrl }: AlarmProps,
): string => `${severity.toUpperCase()}: ${says} What to do: ${runbookPlace(runbook, runbookUrl)}`;

function notify(alarm: cloudwatch.Alarm | cloudwatch.CompositeAlarm, { topicArns }: AlarmProps): void {
  for (const topicArn of topicArns) {
    const action: cloudwatch.IAlarmAction = { bind: () => ({ alarmActionArn: topicArn }) };
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}
