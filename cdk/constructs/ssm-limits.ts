import { Duration } from 'aws-cdk-lib';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { ENV_LIMITS_PATH } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { arnHere, NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';

interface SsmLimitsProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly bundlesPath: string;
}

/** Holds all limits, all groups and 10 000 parameters. */
const MEMORY_MIB = 1024;
/** A run begins no import after 200 s, and ends the one it has begun. */
const TIMEOUT = Duration.seconds(290);
const EVERY = Duration.minutes(5);

/** Imports limits from Parameter Store: when a parameter changes, and every five minutes those whose events were lost. */
export class SsmLimits extends Construct {
  readonly program: NodeLambda;
  /** Parameters right below it have limits: `/tollgate/prod/limits`. */
  readonly path: string;

  constructor(scope: Construct, id: string, { settings, ledger, bundlesPath }: SsmLimitsProps) {
    super(scope, id);
    this.path = `/tollgate/${settings.stage}/limits`;
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'ssm-limits',
      description: 'Imports limits from Parameter Store',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      // Concurrent runs would make the same edits.
      reservedConcurrency: 1,
      environment: { [ENV_LIMITS_PATH]: this.path },
    });
    ledger.grant(this.program, 'takeLimits');
    // Limits are no secrets: there is no right to decrypt anything.
    const below = arnHere(this, 'ssm', `parameter${this.path}/*`);
    const itself = arnHere(this, 'ssm', `parameter${this.path}`);
    this.program.allow(['ssm:GetParametersByPath'], [itself, below]);
    this.program.allow(['ssm:GetParameterHistory'], [below]);
    new ScheduledProgram(this, 'EveryFiveMinutes', {
      settings,
      program: this.program,
      name: 'ssm-limits',
      schedule: Schedule.rate(EVERY),
      // The next run does everything that this one did not.
      lateAtMost: EVERY,
      retries: 0,
    });
    new Rule(this, 'OnChange', {
      ruleName: `tollgate-${settings.stage}-ssm-limits-changed`,
      eventPattern: {
        source: ['aws.ssm'],
        detailType: ['Parameter Store Change'],
        detail: { name: Match.prefix(`${this.path}/`), operation: ['Create', 'Update', 'Delete'] },
      },
      targets: [new LambdaFunction(this.program.fn, { maxEventAge: EVERY, retryAttempts: 0 })],
    });
  }
}
