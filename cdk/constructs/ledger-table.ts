import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { DUE_AT, DUE_INDEX, DUE_PK, ENV_LEDGER_TABLE, PK, SK, TTL_ATTRIBUTE } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';
import type { NodeLambda } from './node-lambda.ts';

/** What a program does with the table; none may change the table itself, and only who is signed in is ever deleted. */
export type LedgerUse = keyof typeof ACTIONS;

/** A transaction needs the action of each write in it, and none of its own. */
const ACTIONS = {
  /** Admit, settle, count, tell: counters and records, what is known about jobs, and the limits, read by the set. */
  keepBooks: [
    'dynamodb:BatchGetItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Query',
    'dynamodb:UpdateItem',
  ],
  /** One inbox item for each webhook. */
  receive: ['dynamodb:PutItem'],
  /** Groups and projects, beside the books. */
  keepDirectory: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
  /** Any item it knows the key of, read only. */
  read: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'],
  /** All of the table, read only. */
  recount: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const STREAM_ACTIONS = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
  'dynamodb:ListStreams',
];
const KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

export interface LedgerTableProps {
  readonly settings: Settings;
}

/**
 * The books: one table, its index of live jobs and its stream. Stateful: kept when the stack goes, protected from being
 * deleted, restorable to any second of the last 35 days.
 */
export class LedgerTable extends Construct {
  readonly table: ITable;
  readonly #key: IKey | undefined;

  constructor(scope: Construct, id: string, { settings }: LedgerTableProps) {
    super(scope, id);
    const { tableKeyArn } = settings.state;
    this.#key = tableKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', tableKeyArn);
    const table = new Table(this, 'Table', {
      partitionKey: { name: PK, type: AttributeType.STRING },
      sortKey: { name: SK, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      ...(this.#key === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: this.#key }),
    });
    table.addGlobalSecondaryIndex({
      indexName: DUE_INDEX,
      partitionKey: { name: DUE_PK, type: AttributeType.STRING },
      sortKey: { name: DUE_AT, type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    });
    // The library's own class does not fit its interface under exact optional properties.
    this.table = table as ITable;
  }

  /** Lets `program` use the table, and tells it where it is. */
  grant(program: NodeLambda, use: LedgerUse): void {
    program.fn.addEnvironment(ENV_LEDGER_TABLE, this.table.tableName);
    program.allow(ACTIONS[use], [this.table.tableArn]);
    this.#grantKey(program);
  }

  /** Lets `program` do `actions` to items of these partitions alone; `*` stands for the rest of a key. */
  grantPartitions(program: NodeLambda, actions: readonly string[], partitions: readonly string[]): void {
    program.allow(actions, [this.table.tableArn], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] },
    });
  }

  /** Lets `program` ask which jobs are live. */
  grantDueJobs(program: NodeLambda): void {
    program.allow(['dynamodb:Query'], [`${this.table.tableArn}/index/${DUE_INDEX}`]);
  }

  /** ARN of the stream that `program` may now read. */
  grantStream(program: NodeLambda): string {
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined) throw new Error('the ledger table has no stream');
    program.allow(STREAM_ACTIONS, [tableStreamArn]);
    return tableStreamArn;
  }

  #grantKey(program: NodeLambda): void {
    if (this.#key === undefined) return;
    // Only through the table: the key may serve others.
    const viaTable = { StringLike: { 'kms:ViaService': 'dynamodb.*.amazonaws.com' } };
    program.allow(KEY_ACTIONS, [this.#key.keyArn], viaTable);
  }
}
