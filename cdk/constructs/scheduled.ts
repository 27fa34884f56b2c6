import type { Duration } from 'aws-cdk-lib';
import { Rule, type Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { Settings } from '../settings/settings.ts';
import type { NodeLambda } from './node-lambda.ts';

interface ScheduledProps {
  readonly settings: Settings;
  readonly program: NodeLambda;
  /** Names the rule: `sweep`. */
  readonly name: string;
  readonly schedule: Schedule;
  /** A start that could not be made by then is left out. */
  readonly lateAtMost: Duration;
  /** Retries of a failed run before its next time. */
  readonly retries: 0 | 1 | 2;
}

/** Runs a program by the clock, one run at a time: a second one waits no longer than `lateAtMost`. */
export class ScheduledProgram extends Construct {
  constructor(scope: Construct, id: string, props: ScheduledProps) {
    super(scope, id);
    const { fn } = props.program;
    // Lambda by default keeps starts it could not make for six hours, and then makes them all.
    fn.configureAsyncInvoke({ maxEventAge: props.lateAtMost, retryAttempts: props.retries });
    new Rule(this, 'Rule', {
      ruleName: `tollgate-${props.settings.stage}-${props.name}`,
      schedule: props.schedule,
      targets: [new LambdaFunction(fn, { maxEventAge: props.lateAtMost, retryAttempts: props.retries })],
    });
  }
}
