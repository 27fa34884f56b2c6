import { type BatchGetDeps, batchGet, nameOf } from './calls.ts';
import type { Key } from './keys.ts';
import type { Answers, ItemTable } from './operation.ts';

/** On a failure the reader reads again. */
const TIMEOUT_MS = 500;

/** Reads the items needed at start in one early call. The first read of each takes its result. */
export function askedAhead(deps: BatchGetDeps, wanted: readonly Key[]): ItemTable {
  const { table } = deps;
  const places = new Map(wanted.map((key, place) => [nameOf(key), place]));
  const answers = batchGet(wanted, TIMEOUT_MS, deps).catch(() => undefined);
  return {
    tableName: table.tableName,
    send: async (name, operation, limit) => {
      const item = name === 'GetItem' && 'key' in operation ? nameOf(operation.key) : '';
      const place = places.get(item);
      if (place === undefined) return table.send(name, operation, limit);
      places.delete(item);
      const items = await answers;
      if (items === undefined) return table.send(name, operation, limit);
      return items[place] as Answers[typeof name];
    },
  };
}
