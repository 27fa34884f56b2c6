import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { SESSIONS_PK_SUFFIX } from '../../names.ts';
import { PK, SK } from '../store/table.ts';
import { tableCalls } from '../store/table-calls.ts';
import { USER_ID } from './session-item.ts';

/** Sign-ins by whose they are. No page needs that, so there is no index: it reads the whole table. */
export interface UserSessions {
  /** Ends all of a user's sessions, or only counts them. @throws {LedgerError} `ledger_unavailable` */
  end(userId: number, options: { readonly dryRun: boolean }): Promise<number>;
}

const TIMEOUT_MS = 10_000;

export function dynamoUserSessions({
  client,
  tableName,
  instance,
}: {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}): UserSessions {
  const answered = tableCalls(tableName, TIMEOUT_MS);
  const page = (userId: number, from: Readonly<Record<string, AttributeValue>> | undefined) =>
    new ScanCommand({
      TableName: tableName,
      ConsistentRead: true,
      FilterExpression: 'begins_with(#pk, :sessions) AND #user = :user',
      ProjectionExpression: '#pk, #sk',
      ExpressionAttributeNames: { '#pk': PK, '#sk': SK, '#user': USER_ID },
      ExpressionAttributeValues: {
        ':sessions': { S: `${instance}${SESSIONS_PK_SUFFIX}#` },
        ':user': { N: String(userId) },
      },
      ...(from !== undefined && { ExclusiveStartKey: from }),
    });
  return {
    async end(userId, { dryRun }) {
      let ended = 0;
      let from: Readonly<Record<string, AttributeValue>> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await answered('look for sessions', (abortSignal) =>
          client.send(page(userId, from), { abortSignal }),
        );
        for (const Key of Items) {
          ended += 1;
          if (dryRun) continue;
          await answered('end a session', (abortSignal) =>
            client.send(new DeleteItemCommand({ TableName: tableName, Key }), { abortSignal }),
          );
        }
        from = LastEvaluatedKey;
      } while (from !== undefined);
      return ended;
    },
  };
}
