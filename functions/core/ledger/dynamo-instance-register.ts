import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { versioned } from '../store/item-version.ts';
import { INSTANCES_PK } from '../store/keys.ts';
import { PK, SK } from '../store/table.ts';
import { tableCalls } from '../store/table-calls.ts';
import type { InstanceRegister, KnownInstance } from './instance-register.ts';
import {
  GITLAB_URL,
  type InstanceTable,
  knownInstances,
  OPENED_AT,
  REGISTER_TIMEOUT_MS,
  ROUTER_HOST,
} from './known-instances.ts';

/** One item per instance, outside of every instance's own keys. */
export function dynamoInstanceRegister({ client, tableName }: InstanceTable): InstanceRegister {
  const answered = tableCalls(tableName, REGISTER_TIMEOUT_MS);
  return {
    list: () => knownInstances({ client, tableName }),
    async remember(known) {
      const command = new PutItemCommand({ TableName: tableName, Item: encode(known) });
      await answered('remember whose books these are', (abortSignal) =>
        client.send(command, { abortSignal }),
      );
    },
  };
}

const encode = ({ instance, gitlabUrl, routerHost, openedAtMs }: KnownInstance) => ({
  [PK]: { S: INSTANCES_PK },
  [SK]: { S: instance },
  ...versioned,
  [OPENED_AT]: { N: String(openedAtMs) },
  ...(gitlabUrl !== undefined && { [GITLAB_URL]: { S: gitlabUrl } }),
  ...(routerHost !== undefined && { [ROUTER_HOST]: { S: routerHost } }),
});
