import { withoutAbsent } from '../../../policies/without-absent.ts';
import { ENV_DEPLOYMENT } from '../../names.ts';
import { systemClock } from '../environment/environment.ts';
import type { Environment } from '../environment/settings.ts';
import { deployedMetrics } from '../metrics.ts';
import { getItem, itemAt, queryPage, timedTable, writeItem } from '../store/calls.ts';
import { INSTANCES_PK, type Key } from '../store/keys.ts';
import { type InstanceTable, type ItemTable, SK } from '../store/operation.ts';
import { signedTable } from '../store/signed-table.ts';
import { LedgerError } from '../store/table-failure.ts';

/** The GitLab instances of a table. The host starts every key, so another spelling would see an empty table. */
export type InstanceRegister = ReturnType<typeof dynamoInstanceRegister>;

export interface KnownInstance {
  readonly instance: string;
  /** GitLab's address, without a trailing slash. Its host may differ from `instance` after a rename. */
  readonly gitlabUrl?: string;
  /** Host of the job router whose admission requests are in this table. It is seldom GitLab's own host. */
  readonly routerHost?: string;
  readonly openedAtMs: number;
}

/** No job waits for it, and it is often the first thing a database hears that has just started. */
export const REGISTER_TIMEOUT_MS = 15_000;
const GITLAB_URL_ATTRIBUTE = 'gu';
const ROUTER_HOST = 'rh';
const OPENED_AT = 'at';

export const registerKey = (instance: string): Key => ({ pk: INSTANCES_PK, sk: instance });

function withoutTable<Answer>(instead: Answer) {
  return (error: unknown): Answer => {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return instead;
    throw error;
  };
}

const isKnownInstance = (table: ItemTable, instance: string, timeoutMs: number): Promise<boolean> =>
  timedTable(table, timeoutMs).within('look up this GitLab instance', async (limit) => {
    const item = getItem(table, registerKey(instance), limit);
    return (await item.catch(withoutTable(undefined))) !== undefined;
  });

async function knownInstances(table: ItemTable, timeoutMs: number): Promise<readonly KnownInstance[]> {
  const ask = { pk: INSTANCES_PK, consistent: true };
  const { items } = await timedTable(table, timeoutMs).within('read whose books these are', (limit) =>
    queryPage(table, ask, limit).catch(withoutTable({ items: [] })),
  );
  return items.map((item) => ({
    instance: item[SK]?.S ?? '',
    openedAtMs: Number(item[OPENED_AT]?.N ?? 0),
    ...withoutAbsent({ gitlabUrl: item[GITLAB_URL_ATTRIBUTE]?.S, routerHost: item[ROUTER_HOST]?.S }),
  }));
}

export const dynamoInstanceRegister = ({ table }: Pick<InstanceTable, 'table'>) => ({
  /** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
  list: (): Promise<readonly KnownInstance[]> => knownInstances(table, REGISTER_TIMEOUT_MS),
  async remember({ instance, gitlabUrl, routerHost, openedAtMs }: KnownInstance): Promise<void> {
    const item = itemAt(registerKey(instance), {
      [OPENED_AT]: { N: String(openedAtMs) },
      ...(gitlabUrl !== undefined && { [GITLAB_URL_ATTRIBUTE]: { S: gitlabUrl } }),
      ...(routerHost !== undefined && { [ROUTER_HOST]: { S: routerHost } }),
    });
    await writeItem(timedTable(table, REGISTER_TIMEOUT_MS), 'whose books these are', item);
  },
});

interface TableConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly dynamodbEndpoint: string | undefined;
}

export const deployedTable = (config: TableConfig, env: Environment) => ({
  table: signedTable(config.ledgerTable, env, config.dynamodbEndpoint),
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
  metrics: deployedMetrics(env[ENV_DEPLOYMENT], { clock: systemClock }),
});

const CHECK_TIMEOUT_MS = 1_000;

async function refuseForeign({ table, instance }: InstanceTable): Promise<void> {
  if (await isKnownInstance(table, instance, CHECK_TIMEOUT_MS)) return;
  const names = (await knownInstances(table, CHECK_TIMEOUT_MS)).map((each) => each.instance);
  if (names.length === 0 || names.includes(instance)) return;
  throw new LedgerError(
    'foreign_books',
    `the table has data of ${names.join(' and ')}, and none of ${instance}. If that host was renamed, set gitlab.instance: '${names[0]}' in cdk/tollgate.config.ts and deploy; if ${instance} is another GitLab: npx tollgate instance add ${instance} --ledger <table>`,
  );
}

/** After a rename of the host all keys would start empty. A table that does not answer refuses nothing. @throws {LedgerError} `foreign_books` */
export function foreignTableCheck(table: InstanceTable): () => Promise<void> {
  let known: Promise<void> | undefined;
  const check = (): Promise<void> => {
    known ??= refuseForeign(table).catch((error: unknown) => {
      // Retry on the next call, so that a repair needs no new process.
      known = undefined;
      if (!(error instanceof LedgerError && error.retryable)) throw error;
    });
    return known;
  };
  // Lambda's wait for the first invocation hides it; a failure is the invocation's, which asks again.
  void check().catch(() => {});
  return check;
}

export function refuseForeignTable<Args extends readonly unknown[], Answer>(
  table: InstanceTable,
  handler: (...args: Args) => Promise<Answer>,
): (...args: Args) => Promise<Answer> {
  const check = foreignTableCheck(table);
  return async (...args) => {
    await check();
    return handler(...args);
  };
}
