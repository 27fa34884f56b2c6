import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';
import type { ControllerScope, ControllerScopeStore } from './controller-scope.ts';

const CONTROLLER = 'ci';
const STATE = 'st';
const READ_AT = 'at';
const INSTANCE_SINCE = 'is';
const RUNNERS = 'rs';

/** One item; a runner takes some twenty bytes, so ten thousand fit. */
export function dynamoControllerScope({ table, instance }: InstanceTable): ControllerScopeStore {
  const key = ledgerKeys(instance).controllerScope;
  const item = singleItem({ table, key, name: 'the scope', consistent: true });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (scope) => item.write(encode(scope)),
  };
}

const encode = (scope: ControllerScope): Item => ({
  [CONTROLLER]: { N: String(scope.controllerId) },
  [STATE]: { S: scope.state },
  [READ_AT]: { N: String(scope.readAtMs) },
  ...(scope.instanceSinceMs !== undefined && { [INSTANCE_SINCE]: { N: String(scope.instanceSinceMs) } }),
  [RUNNERS]: {
    M: Object.fromEntries([...scope.runners].map(([id, sinceMs]) => [String(id), { N: String(sinceMs) }])),
  },
});

function decode(item: Item): ControllerScope | undefined {
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
