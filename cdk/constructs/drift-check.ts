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

/** A line for each of some hundred thousand counters, and CPU to read pages of several segments at once. */
const MEMORY_MIB = 1769;
/** Lambda's longest. A recount that takes longer goes on with the next run. */
const TIMEOUT = Duration.minutes(15);
/** Every run compares the second sums; the first after 2:20 UTC begins a recount that is due, and others go on with it. */
const AT = Schedule.cron({ minute: '8/15' });

/** Compares counters every quarter of an hour, and recounts them all each week and when there is a doubt, in as many runs as it takes, says which do not show what their records make, and adds to usage what the stream lost. */
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
