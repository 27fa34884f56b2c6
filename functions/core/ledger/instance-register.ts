import {
  answered,
  getItem,
  INSTANCES_PK,
  type InstanceTable,
  type Item,
  type ItemPage,
  type ItemTable,
  itemAt,
  type Key,
  putItem,
  queryPage,
  SK,
  TimeLimit,
  unavailable,
} from '../store/index.ts';

/**
 * Lists the GitLab instances of a table. The host starts every key, so a different spelling would see an
 * empty table. The register stores the spelling.
 */
export interface InstanceRegister {
  /** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
  list(): Promise<readonly KnownInstance[]>;
  /** Replaces the stored entry of this instance. @throws {LedgerError} `ledger_unavailable` */
  remember(known: KnownInstance): Promise<void>;
}

export interface KnownInstance {
  /** As it begins the keys, e.g. `gitlab.example.com`. */
  readonly instance: string;
  /** GitLab's address, without a trailing slash. Its host may differ from `instance` after a rename. */
  readonly gitlabUrl?: string;
  /** Host of the job router whose questions are in these books: seldom GitLab's own. */
  readonly routerHost?: string;
  /** Last write under this name, Unix ms. */
  readonly openedAtMs: number;
}

/** No job waits for it, and it is often the first thing a database hears that has just started. */
export const REGISTER_TIMEOUT_MS = 15_000;
const GITLAB_URL_ATTRIBUTE = 'gu';
const ROUTER_HOST = 'rh';
const OPENED_AT = 'at';

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

/** Key of an instance's entry. */
export const registerKey = (instance: string): Key => ({ pk: INSTANCES_PK, sk: instance });

/** One item instead of a page. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
export async function isKnownInstance(
  table: ItemTable,
  instance: string,
  timeoutMs: number,
): Promise<boolean> {
  const known = await answered('read whether these books are ours', unavailable(table), () =>
    getItem(table, registerKey(instance), new TimeLimit(timeoutMs)).catch((error: unknown) => {
      noneWithoutTable(error);
      return undefined;
    }),
  );
  return known !== undefined;
}

/** Treats a missing table as empty; callers report a missing table themselves. */
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
  itemAt(registerKey(instance), {
    [OPENED_AT]: { N: String(openedAtMs) },
    ...(gitlabUrl !== undefined && { [GITLAB_URL_ATTRIBUTE]: { S: gitlabUrl } }),
    ...(routerHost !== undefined && { [ROUTER_HOST]: { S: routerHost } }),
  });
