import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { liveLimitsContract } from '../../../support/live-limits.ts';

const TABLE = 'live-limits';

const local = localTable(TABLE);

liveLimitsContract((instance, clock) => {
  const table = { table: dynamoTable(local.client, TABLE), instance, clock, random: Math.random };
  return { store: new DynamoStore(table), limits: new DynamoLimitTable(table) };
});
