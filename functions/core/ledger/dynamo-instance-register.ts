import {
  answered,
  INSTANCES_PK,
  type InstanceTable,
  itemAt,
  putItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';
import type { InstanceRegister, KnownInstance } from './instance-register.ts';
import {
  GITLAB_URL_ATTRIBUTE,
  knownInstances,
  OPENED_AT,
  REGISTER_TIMEOUT_MS,
  ROUTER_HOST,
} from './known-instances.ts';

/** One item per instance, outside of every instance's own keys. */
export const dynamoInstanceRegister = ({ table }: Pick<InstanceTable, 'table'>): InstanceRegister => ({
  list: () => knownInstances(table),
  async remember(known) {
    await answered('remember whose books these are', unavailable(table), () =>
      putItem(table, encode(known), new TimeLimit(REGISTER_TIMEOUT_MS)),
    );
  },
});

const encode = ({ instance, gitlabUrl, routerHost, openedAtMs }: KnownInstance) =>
  itemAt(
    { pk: INSTANCES_PK, sk: instance },
    {
      [OPENED_AT]: { N: String(openedAtMs) },
      ...(gitlabUrl !== undefined && { [GITLAB_URL_ATTRIBUTE]: { S: gitlabUrl } }),
      ...(routerHost !== undefined && { [ROUTER_HOST]: { S: routerHost } }),
    },
  );
