import { type LedgerClock, systemClock } from '../environment/index.ts';
import { dynamoClient, dynamoTable, type ItemTable } from '../store/index.ts';

interface DeployedTable {
  readonly table: ItemTable;
  /** Begins every key, e.g. `gitlab.example.com`. */
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

/** The table as a deployed function's configuration names it: what every store over it is made of. */
export const deployedTable = (config: {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}): DeployedTable => ({
  table: dynamoTable(dynamoClient(config.dynamodbEndpoint), config.ledgerTable),
  instance: config.gitlabInstance,
  clock: systemClock,
  random: Math.random,
});
