import { DescribeTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import * as deployed from './deployed.ts';

type Place = deployed.RehearsalPlace;

/** An item of nobody's that every change must leave alone. */
export const NOTE = { pk: { S: 'rehearsal@note' }, sk: { S: 'note' } };

export const connection = ({ emulator }: Place) => ({
  endpoint: emulator.endpoint,
  region: deployed.REHEARSAL_REGION,
  credentials: { accessKeyId: 'rehearsal', secretAccessKey: 'rehearsal' },
});
export const dynamo = (place: Place): DynamoDBClient => new DynamoDBClient(connection(place));
export const ssm = (place: Place): SSMClient => new SSMClient(connection(place));
export const tableOf = (place: Place): string =>
  deployed.outputsOf(place, deployed.STATE_STACK).TableName ?? '';

export const tableFacts = async (place: Place): Promise<Record<string, unknown>> => {
  const { Table } = await dynamo(place).send(new DescribeTableCommand({ TableName: tableOf(place) }));
  return {
    deletionProtection: Table?.DeletionProtectionEnabled,
    billing: Table?.BillingModeSummary?.BillingMode,
    stream: Table?.StreamSpecification?.StreamViewType,
    index: Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName),
  };
};

export const noteIn = async (place: Place): Promise<string | undefined> => {
  const command = new GetItemCommand({ TableName: tableOf(place), Key: NOTE, ConsistentRead: true });
  return (await dynamo(place).send(command)).Item?.text?.S;
};
