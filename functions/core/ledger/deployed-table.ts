/** The table of a deployed program, and the check that its books are of the GitLab that the program serves. */
import { type Environment, type LedgerClock, systemClock } from '../environment/index.ts';
import { type InstanceTable, type ItemTable, LedgerError, signedTable } from '../store/index.ts';
import { isKnownInstance, type KnownInstance, knownInstances } from './instance-register.ts';

interface DeployedTable {
  readonly table: ItemTable;
  /** Begins every key, e.g. `gitlab.example.com`. */
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

interface TableConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** The table as a deployed function's configuration names it: what every store over it is made of. */
export const deployedTable = (config: TableConfig, env: Environment): DeployedTable => ({
  table: signedTable(config.ledgerTable, env, config.dynamodbEndpoint),
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
});

interface OwnBooksDeps {
  /** Lists the instances whose books the table has. @throws {LedgerError} */
  readonly list: () => Promise<readonly Pick<KnownInstance, 'instance'>[]>;
  /** The configured host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/**
 * Refuses a table with data of other GitLab instances and none of this one. After a rename of the host, all
 * keys would start empty: no budget spent, no limit, no hold. An empty table is accepted.
 *
 * @returns a check that runs until it has succeeded once.
 * @throws {LedgerError} `foreign_books` with both names and the remedy, `ledger_unavailable`
 */
export function ownBooks({ list, instance }: OwnBooksDeps): () => Promise<void> {
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

/** The invocation waits for it. */
const TIMEOUT_MS = 1_000;

/**
 * Wraps a handler so that it runs only on its own GitLab's table. The check starts immediately. A table that
 * does not answer refuses nothing, and the next invocation checks again.
 *
 * @throws {LedgerError} `foreign_books`, on each invocation until it is repaired.
 */
export function onOwnBooks<Args extends readonly unknown[], Answer>(
  { table, instance }: InstanceTable,
  handler: (...args: Args) => Promise<Answer>,
): (...args: Args) => Promise<Answer> {
  const check = ownBooks({
    list: async () => {
      if (await isKnownInstance(table, instance, TIMEOUT_MS)) return [{ instance }];
      return knownInstances(table, TIMEOUT_MS);
    },
    instance,
  });
  // Lambda's wait for the first invocation hides it; a failure is the invocation's, which asks again.
  void check().catch(() => {});
  return async (...args) => {
    await check().catch((error: unknown) => {
      if (!(error instanceof LedgerError && error.retryable)) throw error;
    });
    return handler(...args);
  };
}
