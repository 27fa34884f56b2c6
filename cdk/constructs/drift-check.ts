import { Duration } from 'aws-cdk-lib';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { ENV_ROLLUP_ZONE } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { ScheduledProgram } from './scheduled.ts';

interface DriftCheckProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly bundlesPath: string;
}

/** Holds sums of some hundred thousand counters; the CPU reads several segments in parallel. */
const MEMORY_MIB = 1769;
/** Lambda's longest. The next run goes on. */
const TIMEOUT = Duration.minutes(15);
/** Each run reads the part of the table that is due. */
const AT = Schedule.cron({ minute: '8' });

/** Compares all counters with their records in rounds of a day or a week, and adds to usage what the stream lost. */
export class DriftCheck extends Construct {
  readonly program: NodeLambda;

  constructor(scope: Construct, id: string, { settings, ledger, bundlesPath }: DriftCheckProps) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'drift',
      description: 'Recounts the counters',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      reservedConcurrency: 1,
      environment: { [ENV_ROLLUP_ZONE]: settings.usageZone },
    });
    ledger.grant(this.program, 'recount');
    // CloudFormation cannot replace a rule that has a name, so its id stays.
    new ScheduledProgram(this, 'Nightly', {
      settings,
      program: this.program,
      name: 'drift',
      schedule: AT,
      lateAtMost: Duration.minutes(10),
      retries: 0,
    });
  }
}
