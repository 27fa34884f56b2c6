import {
  answered,
  INSTANCES_PK,
  type Item,
  type ItemPage,
  type ItemTable,
  queryPage,
  SK,
  TimeLimit,
  unavailable,
} from '../store/index.ts';
import type { KnownInstance } from './instance-register.ts';

/** No job waits for it, and it is often the first thing a database hears that has just started. */
export const REGISTER_TIMEOUT_MS = 15_000;
export const GITLAB_URL_ATTRIBUTE = 'gu';
export const ROUTER_HOST = 'rh';
export const OPENED_AT = 'at';

/** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
export async function knownInstances(
  table: ItemTable,
  timeoutMs = REGISTER_TIMEOUT_MS,
): Promise<readonly KnownInstance[]> {
  const ask = { pk: INSTANCES_PK, consistent: true };
  const { items } = await answered('read whose books these are', unavailable(table), () =>
    queryPage(table, ask, new TimeLimit(timeoutMs)).catch(noneWithoutTable),
  );
  return items.map(decode);
}

/** Whoever reads the books is told that the table is missing, in words of its own. */
function noneWithoutTable(error: unknown): ItemPage {
  if (error instanceof Error && error.name === 'ResourceNotFoundException') return { items: [] };
  throw error;
}

function decode(item: Item): KnownInstance {
  const gitlabUrl = item[GITLAB_URL_ATTRIBUTE]?.S;
  const routerHost = item[ROUTER_HOST]?.S;
  return {
    instance: item[SK]?.S ?? '',
    openedAtMs: Number(item[OPENED_AT]?.N ?? 0),
    ...(gitlabUrl !== undefined && { gitlabUrl }),
    ...(routerHost !== undefined && { routerHost }),
  };
}
