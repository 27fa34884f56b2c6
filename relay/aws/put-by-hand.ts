import { ITEM_VERSION, VERSION_ATTRIBUTE } from '../../functions/names.ts';
import { type AwsJsonDeps, awsJson } from './aws-json.ts';

/** Where relays write by themselves, because the function may not be there when it matters. */
export interface RelayTable extends AwsJsonDeps {
  readonly table: string;
  /** The GitLab host. */
  readonly instance: string;
}

/** Writes an item, in the form of today. Rejects when the table did not take it. */
export async function putByHand(options: RelayTable, item: object, timeoutMs: number): Promise<void> {
  await awsJson(options, {
    target: 'DynamoDB_20120810.PutItem',
    version: '1.0',
    input: { TableName: options.table, Item: { ...item, [VERSION_ATTRIBUTE]: { N: ITEM_VERSION } } },
    timeoutMs,
  });
}
