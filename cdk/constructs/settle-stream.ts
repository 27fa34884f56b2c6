import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { INBOX_SK } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { StreamConsumer } from './stream-consumer.ts';

interface SettleStreamProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly bundlesPath: string;
}

/** Transactions of up to 100 items, and the rules for answers that relays gave on their own. */
const MEMORY_MIB = 512;
/** A batch takes one or two seconds; the rest is for a table that throttles. */
const TIMEOUT = Duration.seconds(60);
/** One second later is nothing to a budget, and halves what the counters are written. */
const BATCH_WINDOW = Duration.seconds(1);
const BATCH_SIZE = 100;
/** A failure may be temporary (a throttled table). The sweep settles jobs that are given up here. */
const RETRIES = 20;
const GIVEN_UP_AFTER = Duration.hours(2);

/** Settles the jobs whose ends stand in the inbox. */
export class SettleStream extends Construct {
  readonly program: NodeLambda;
  readonly consumer: StreamConsumer;

  constructor(scope: Construct, id: string, { settings, ledger, bundlesPath }: SettleStreamProps) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'settle-stream',
      description: 'Settles the jobs that ended',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
    });
    ledger.grant(this.program, 'settle');
    this.consumer = new StreamConsumer(this, 'Consumer', {
      settings,
      ledger,
      program: this.program,
      name: 'settle-stream',
      sortKeys: [{ prefix: INBOX_SK }],
      events: ['INSERT'],
      batchSize: BATCH_SIZE,
      batchWindow: BATCH_WINDOW,
      retries: RETRIES,
      givenUpAfter: GIVEN_UP_AFTER,
    });
  }
}
