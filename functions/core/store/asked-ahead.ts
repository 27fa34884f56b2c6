import { setImmediate } from 'node:timers/promises';
import { type BatchGetDeps, batchGet, nameOf } from './calls.ts';
import type { Key } from './keys.ts';
import type { Answers, Item, ItemTable, Operations, TimeLimit } from './operation.ts';

/** On a failure the reader reads again. */
const TIMEOUT_MS = 500;

/**
 * Reads the items needed at start in one early call. The first read of each takes its result; other calls wait for it and reuse its
 * connection, because a second one costs more than the wait.
 */
export function askedAhead(deps: BatchGetDeps, wanted: readonly Key[]): ItemTable {
  const { table } = deps;
  const places = new Map(wanted.map((key, place) => [nameOf(key), place]));
  let isUnderWay = true;
  const answers = readOnce(wanted, deps).finally(() => {
    isUnderWay = false;
  });
  const afterwards = async <Name extends keyof Operations>(
    name: Name,
    operation: Operations[Name],
    limit: TimeLimit,
  ): Promise<Answers[Name]> => {
    const item = name === 'GetItem' && 'key' in operation ? nameOf(operation.key) : '';
    const place = places.get(item);
    places.delete(item);
    const items = await answers;
    if (place === undefined || items === undefined) return table.send(name, operation, limit);
    return items[place] as Answers[Name];
  };
  return {
    tableName: table.tableName,
    send: (name, operation, limit) =>
      isUnderWay || places.size > 0 ? afterwards(name, operation, limit) : table.send(name, operation, limit),
  };
}

async function readOnce(
  wanted: readonly Key[],
  deps: BatchGetDeps,
): Promise<readonly (Item | undefined)[] | undefined> {
  try {
    return await batchGet(wanted, TIMEOUT_MS, deps);
  } catch {
    return undefined;
  } finally {
    // Only then is its connection free.
    await setImmediate();
  }
}
