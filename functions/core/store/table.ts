/** The table as data: used as it is by local runs and, through the same constants, by the deployment. */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DUE_AT, DUE_INDEX, DUE_PK, PK, SK, TTL_ATTRIBUTE } from '../../names.ts';

export { DUE_AT, DUE_INDEX, DUE_PK, PK, SK, TTL_ATTRIBUTE };

export const ledgerTable = (tableName: string): CreateTableCommandInput => ({
  TableName: tableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: PK, AttributeType: 'S' },
    { AttributeName: SK, AttributeType: 'S' },
    { AttributeName: DUE_PK, AttributeType: 'S' },
    { AttributeName: DUE_AT, AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: PK, KeyType: 'HASH' },
    { AttributeName: SK, KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: DUE_INDEX,
      KeySchema: [
        { AttributeName: DUE_PK, KeyType: 'HASH' },
        { AttributeName: DUE_AT, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
});
