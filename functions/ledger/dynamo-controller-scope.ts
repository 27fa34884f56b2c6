import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { ControllerScope, ControllerScopeStore } from './controller-scope.ts';
import { versioned } from './item-version.ts';
import { ledgerKeys } from './keys.ts';
import { PK, SK } from './table.ts';
import { tableCalls } from './table-calls.ts';

const TIMEOUT_MS = 3_000;
const CONTROLLER = 'ci';
const STATE = 'st';
const READ_AT = 'at';
const INSTANCE_SINCE = 'is';
const RUNNERS = 'rs';

export interface DynamoControllerScopeOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/** One item; a runner takes some twenty bytes, so ten thousand fit. */
export function dynamoControllerScope(options: DynamoControllerScopeOptions): ControllerScopeStore {
  const { client, tableName, instance } = options;
  const { pk, sk } = ledgerKeys(instance).controllerScope;
  const key = { [PK]: { S: pk }, [SK]: { S: sk } };
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return {
    async read() {
      const command = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
      const { Item } = await answered('read the scope', (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      return Item && decode(Item);
    },
    async write(scope) {
      const command = new PutItemCommand({
        TableName: tableName,
        Item: { ...key, ...versioned, ...encode(scope) },
      });
      await answered('write the scope', (abortSignal) => client.send(command, { abortSignal }));
    },
  };
}

const encode = (scope: ControllerScope): Record<string, AttributeValue> => ({
  [CONTROLLER]: { N: String(scope.controllerId) },
  [STATE]: { S: scope.state },
  [READ_AT]: { N: String(scope.readAtMs) },
  ...(scope.instanceSinceMs !== undefined && { [INSTANCE_SINCE]: { N: String(scope.instanceSinceMs) } }),
  [RUNNERS]: {
    M: Object.fromEntries([...scope.runners].map(([id, sinceMs]) => [String(id), { N: String(sinceMs) }])),
  },
});

function decode(item: Readonly<Record<string, AttributeValue>>): ControllerScope | undefined {
  const state = item[STATE]?.S;
  if (state !== 'enabled' && state !== 'dry_run' && state !== 'disabled') return undefined;
  const instanceSince = item[INSTANCE_SINCE]?.N;
  return {
    controllerId: Number(item[CONTROLLER]?.N ?? 0),
    state,
    readAtMs: Number(item[READ_AT]?.N ?? 0),
    ...(instanceSince !== undefined && { instanceSinceMs: Number(instanceSince) }),
    runners: new Map(
      Object.entries(item[RUNNERS]?.M ?? {}).map(([id, { N }]) => [Number(id), Number(N ?? 0)]),
    ),
  };
}
