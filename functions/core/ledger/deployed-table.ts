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
  /** As this program is told it, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/**
 * Refuses a table that has books of other GitLabs and none of this one. A host that was renamed would otherwise begin every key
 * anew: no budget spent, no limit, no hold, and nobody notices. A table that knows nobody yet is anybody's.
 *
 * @returns asks until the answer was good once, then never again.
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
      // Whoever mends it waits for no new process.
      known = undefined;
      throw error;
    });
    return known;
  };
}

/** Somebody may wait for the invocation behind it. */
const TIMEOUT_MS = 1_000;

/**
 * The same handler, as long as the table of the deployed function is not found to be somebody else's. Begins to ask at once. A
 * table that does not answer refuses nobody, and is asked again with the next invocation.
 *
 * @throws {LedgerError} `foreign_books`, from each invocation until it is mended.
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
