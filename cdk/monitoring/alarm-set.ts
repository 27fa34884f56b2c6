import {
  Alarm,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarm,
  type IAlarmAction,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { type AlarmSeverity, type AlarmSpec, COMPOSITE } from './alarms/alarm-spec.ts';
import type { DeploymentMetrics } from './metrics.ts';
import { runbookPlace } from './runbook.ts';

interface AlarmSetProps {
  readonly stage: string;
  readonly specs: readonly AlarmSpec[];
  readonly metrics: DeploymentMetrics;
  /** Topics for alarm and recovery messages. */
  readonly topicArns: readonly string[];
  readonly runbookUrl: string | undefined;
}

const OPERATORS = {
  above: ComparisonOperator.GREATER_THAN_THRESHOLD,
  below: ComparisonOperator.LESS_THAN_THRESHOLD,
} as const;
const MISSING = {
  breaching: TreatMissingData.BREACHING,
  notBreaching: TreatMissingData.NOT_BREACHING,
} as const;

/** Creates alarms from specs, and one composite for those that are sent together. */
export class AlarmSet extends Construct {
  /** The composite first, then in the order of the specs. */
  readonly alarms: readonly IAlarm[];
  readonly #props: AlarmSetProps;

  constructor(scope: Construct, id: string, props: AlarmSetProps) {
    super(scope, id);
    this.#props = props;
    const made = props.specs.map((spec) => ({ spec, alarm: this.#make(spec) }));
    const together = made.filter(({ spec }) => spec.toldBy !== undefined).map(({ alarm }) => alarm);
    const alarms = made.map(({ alarm }) => alarm);
    this.alarms = together.length === 0 ? alarms : [this.#compose(together), ...alarms];
  }

  #make(spec: AlarmSpec): IAlarm {
    const { formula, label, periodMinutes } = spec;
    const [direction, threshold] = spec.breach;
    const alarm = new Alarm(this, spec.name, {
      alarmName: this.#nameOf(spec),
      alarmDescription: this.#describe(spec),
      metric: this.#props.metrics.of(formula, { periodMinutes, label }),
      comparisonOperator: OPERATORS[direction],
      threshold,
      evaluationPeriods: spec.periods,
      datapointsToAlarm: spec.breaching ?? spec.periods,
      treatMissingData: MISSING[spec.missing],
    });
    if (spec.toldBy === undefined) this.#tell(alarm);
    return alarm;
  }

  #compose(alarms: readonly IAlarm[]): IAlarm {
    const composite = new CompositeAlarm(this, COMPOSITE.name, {
      compositeAlarmName: this.#nameOf(COMPOSITE),
      alarmDescription: this.#describe(COMPOSITE),
      alarmRule: AlarmRule.anyOf(...alarms),
    });
    this.#tell(composite);
    return composite;
  }

  #nameOf({ name }: { readonly name: string }): string {
    return `tollgate-${this.#props.stage}-${name}`;
  }

  /** The first word is the severity, so that subscription filters can separate pages from tickets. */
  #describe(spec: {
    readonly name: string;
    readonly severity: AlarmSeverity;
    readonly says: string;
  }): string {
    const place = runbookPlace(spec.name, this.#props.runbookUrl);
    return `${spec.severity.toUpperCase()}: ${spec.says} What to do: ${place}`;
  }

  #tell(alarm: Alarm | CompositeAlarm): void {
    for (const topicArn of this.#props.topicArns) {
      const action: IAlarmAction = { bind: () => ({ alarmActionArn: topicArn }) };
      alarm.addAlarmAction(action);
      // On-call also gets the recovery.
      alarm.addOkAction(action);
    }
  }
}
