import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { DUE_AT, DUE_INDEX, DUE_PK, ENV_LEDGER_TABLE, PK, SK, TTL_ATTRIBUTE } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allow, allowKey, onKeys } from './statements.ts';
import { ALL_NAMED, ALL_WRITES, closedPartitions, type LedgerUse, tableRights } from './table-rights.ts';

const STREAM_ACTIONS = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
  'dynamodb:ListStreams',
];

/** The ledger table, its index of due items and its stream. It outlives the stack and is restorable to any second of 35 days. */
export class LedgerTable extends Construct {
  readonly table: dynamodb.ITable;
  readonly #key: IKey | undefined;
  readonly #instance: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { tableKeyArn } = settings.state;
    this.#instance = settings.gitlab.instance;
    this.#key = tableKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', tableKeyArn);
    const table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: PK, type: dynamodb.AttributeType.STRING },
      sortKey: { name: SK, type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      ...(this.#key === undefined
        ? { encryption: dynamodb.TableEncryption.AWS_MANAGED }
        : { encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED, encryptionKey: this.#key }),
    });
    table.addGlobalSecondaryIndex({
      indexName: DUE_INDEX,
      partitionKey: { name: DUE_PK, type: dynamodb.AttributeType.STRING },
      sortKey: { name: DUE_AT, type: dynamodb.AttributeType.NUMBER },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    // The library's own class does not fit its interface under exact optional properties.
    this.table = table as dynamodb.ITable;
  }

  /** Lets `program` use the table. Writes outside its use are denied explicitly, so that a right added later opens nothing. */
  grant(program: NodeLambda, use: LedgerUse): void {
    program.fn.addEnvironment(ENV_LEDGER_TABLE, this.table.tableName);
    const rights = tableRights(this.#instance)[use];
    const { reads, writes } = rights;
    const table = [this.table.tableArn];
    if (reads.length > 0) program.allow(reads, table);
    for (const { actions, partitions } of writes) program.allow(actions, table, onKeys(...partitions));
    const written = [...new Set(writes.flatMap(({ partitions }) => partitions))];
    const others = { 'ForAnyValue:StringNotLike': { 'dynamodb:LeadingKeys': written } };
    program.deny(ALL_WRITES, table, written.length === 0 ? undefined : others);
    const closed = closedPartitions(this.#instance, rights);
    program.deny(ALL_NAMED, table, { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': closed } });
    for (const statement of tableKeyStatements(this, this.#key)) program.role.addToPolicy(statement);
  }

  /** For the role of the platform team. */
  addPolicyPublisher(): ManagedPolicy {
    const { writes } = tableRights(this.#instance).publishRules;
    const table = [this.table.tableArn];
    const rights = writes.map(({ actions, partitions }) => allow(actions, table, onKeys(...partitions)));
    const statements = [...rights, ...tableKeyStatements(this, this.#key)];
    return new ManagedPolicy(this, 'PolicyPublisher', { statements });
  }

  grantDueJobs(program: NodeLambda): void {
    program.allow(['dynamodb:Query'], [`${this.table.tableArn}/index/${DUE_INDEX}`]);
  }

  grantStream(program: NodeLambda): string {
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined) throw new Error('the ledger table has no stream');
    program.allow(STREAM_ACTIONS, [tableStreamArn]);
    return tableStreamArn;
  }
}

const KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** A customer's key of the table: only through DynamoDB, because the key may serve others. None without such a key. */
export function tableKeyStatements(scope: Construct, key: IKey | undefined): readonly PolicyStatement[] {
  return key === undefined ? [] : [allowKey(scope, 'dynamodb', KEY_ACTIONS, key.keyArn)];
}
