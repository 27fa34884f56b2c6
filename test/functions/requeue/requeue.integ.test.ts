import { afterEach } from 'vitest';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import type { LoopbackServer } from '../../../scripts/local/loopback.ts';
import { localTable } from '../../support/ledger/local-table.ts';
import { requeueContract } from './requeue-contract.ts';

const TABLE = 'requeue';
const local = localTable(TABLE);

let server: LoopbackServer | undefined;
afterEach(async () => server?.stop());

requeueContract({
  table: () => dynamoTable(local.client, TABLE),
  wayTo: async (gitlab) => {
    server = await gitlab.listen();
    return { baseUrl: server.url, fetch };
  },
});
