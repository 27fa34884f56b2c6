import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import {
  CLOSING_SK,
  COUNTER_SK,
  ENTRY_SK_PREFIX,
  ENV_ROLLUP_ZONE,
  LIMITS_PK_SUFFIX,
  RECORD_SK,
} from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { DecisionExport } from './decision-export.ts';
import type { LedgerTable } from './ledger-table.ts';
import { NodeLambda } from './node-lambda.ts';
import { StreamConsumer } from './stream-consumer.ts';
import type { ThresholdsTopic } from './thresholds-topic.ts';

interface RollupProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  readonly thresholds: ThresholdsTopic;
  /** Absent: the settings want none. */
  readonly decisionExport: DecisionExport | undefined;
  readonly bundlesPath: string;
}

const MEMORY_MIB = 512;
const TIMEOUT = Duration.seconds(60);
/**
 * Pages show figures of minutes ago anyway, and a fuller batch writes each sum, list and exported object once: of everything
 * that a job costs this is the largest part.
 */
const BATCH_WINDOW = Duration.seconds(150);
const BATCH_SIZE = 200;
/** The recount counts what is given up here: patience all the same, but less than the stream's day. */
const RETRIES = 200;
const GIVEN_UP_AFTER = Duration.hours(20);

/** Stream items for the export only, besides limits. */
const EXPORTED = [CLOSING_SK, { prefix: ENTRY_SK_PREFIX }];

/** Aggregates usage per group, project, class and day, learns durations, and sends threshold alerts. */
export class Rollup extends Construct {
  readonly program: NodeLambda;
  readonly consumer: StreamConsumer;

  constructor(
    scope: Construct,
    id: string,
    { settings, ledger, thresholds, decisionExport, bundlesPath }: RollupProps,
  ) {
    super(scope, id);
    this.program = new NodeLambda(this, 'Program', {
      settings,
      bundlesPath,
      name: 'rollup',
      description: 'Sums up usage and tells owners of limits',
      memoryMiB: MEMORY_MIB,
      timeout: TIMEOUT,
      environment: { [ENV_ROLLUP_ZONE]: settings.usageZone },
    });
    ledger.grant(this.program, 'rollUp');
    thresholds.grantPublish(this.program);
    decisionExport?.grantPut(this.program);
    this.consumer = new StreamConsumer(this, 'Consumer', {
      settings,
      ledger,
      program: this.program,
      name: 'rollup',
      sortKeys: [RECORD_SK, COUNTER_SK, ...(decisionExport === undefined ? [] : EXPORTED)],
      ...(decisionExport !== undefined && {
        partitions: [{ prefix: `${settings.gitlab.instance}${LIMITS_PK_SUFFIX}` }],
      }),
      events: ['INSERT', 'MODIFY'],
      batchSize: BATCH_SIZE,
      batchWindow: BATCH_WINDOW,
      retries: RETRIES,
      givenUpAfter: GIVEN_UP_AFTER,
    });
  }
}
