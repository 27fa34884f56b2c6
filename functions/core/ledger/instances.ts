import { type LedgerClock, systemClock } from '../environment/environment.ts';
import type { Environment } from '../environment/settings.ts';
import { getItem, itemAt, putItem, queryPage } from '../store/calls.ts';
import { INSTANCES_PK, type Key } from '../store/keys.ts';
import {
  type InstanceTable,
  type Item,
  type ItemPage,
  type ItemTable,
  SK,
  TimeLimit,
} from '../store/operation.ts';
import { signedTable } from '../store/signed-table.ts';
import { answered, LedgerError, unavailable } from '../store/table-failure.ts';

/** The GitLab instances of a table. The host starts every key, so another spelling would see an empty table. */
export interface InstanceRegister {
  /** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
  list(): Promise<readonly KnownInstance[]>;
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
async function knownInstances(
  table: ItemTable,
  timeoutMs = REGISTER_TIMEOUT_MS,
): Promise<readonly KnownInstance[]> {
  const ask = { pk: INSTANCES_PK, consistent: true };
  const { items } = await answered('read whose books these are', unavailable(table), () =>
    queryPage(table, ask, new TimeLimit(timeoutMs)).catch(noneWithoutTable),
  );
  return items.map(decode);
}

export const registerKey = (instance: string): Key => ({ pk: INSTANCES_PK, sk: instance });

async function isKnownInstance(table: ItemTable, instance: string, timeoutMs: number): Promise<boolean> {
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

interface DeployedTable {
  readonly table: ItemTable;
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

interface TableConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly dynamodbEndpoint: string | undefined;
}

export const deployedTable = (config: TableConfig, env: Environment): DeployedTable => ({
  table: signedTable(config.ledgerTable, env, config.dynamodbEndpoint),
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
});

/** Refuses a table with data of other instances and none of this one: after a rename all keys would start empty. Checks until it succeeds once. */
export function ownBooks(
  list: () => Promise<readonly Pick<KnownInstance, 'instance'>[]>,
  instance: string,
): () => Promise<void> {
  let known: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    const names = (await list()).map((each) => each.instance);
    if (names.length === 0 || names.includes(instance)) return;
    throw new LedgerError(
      'foreign_books',
      `the table has books of ${names.join(' and ')}, and none of ${instance}. If that host was renamed, set gitlab.instance: '${names[0]}' in cdk/tollgate.config.ts and deploy; if ${instance} is another GitLab: npx tollgate instance add ${instance} --ledger <table>`,
    );
  };
  return () => {
    known ??= ask().catch((error: unknown) => {
      // Retry on the next call, so that a repair needs no new process.
      known = undefined;
      throw error;
    });
    return known;
  };
}

const TIMEOUT_MS = 1_000;

/** Runs the handler only on its own GitLab's table. A table that does not answer refuses nothing. @throws {LedgerError} `foreign_books` */
export function onOwnBooks<Args extends readonly unknown[], Answer>(
  { table, instance }: InstanceTable,
  handler: (...args: Args) => Promise<Answer>,
): (...args: Args) => Promise<Answer> {
  const check = ownBooks(async () => {
    if (await isKnownInstance(table, instance, TIMEOUT_MS)) return [{ instance }];
    return knownInstances(table, TIMEOUT_MS);
  }, instance);
  // Lambda's wait for the first invocation hides it; a failure is the invocation's, which asks again.
  void check().catch(() => {});
  return async (...args) => {
    await check().catch((error: unknown) => {
      if (!(error instanceof LedgerError && error.retryable)) throw error;
    });
    return handler(...args);
  };
}
