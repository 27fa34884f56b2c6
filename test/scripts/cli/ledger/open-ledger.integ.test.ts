import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/machine.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../../functions/core/store/dynamo-table.ts';
import { type LedgerAccess, openLedger } from '../../../../scripts/cli/ledger/open-ledger.ts';
import { ensureTable, startDynamoDbLocal } from '../../../../scripts/local/dynamodb-local.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { patientClient } from '../../../support/ledger/patient-client.ts';

const TABLE = 'tollgate-local';
const INSTANCE = 'gitlab.local';

async function jobsSeen({ store }: LedgerAccess): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const item of store.scan()) if (item.kind === 'record') found.push(item.record.jobId);
  expect((await store.readRecords([1], { timeoutMs: 300_000 }))[0]?.state).toBe('HELD');
  return found;
}

test('the desk reads what npm start left on disk, and a table by its name, and only the instance it asks for', async () => {
  const root = `${mkdtempSync(join(tmpdir(), 'tollgate-root-'))}/`;
  const dataDir = `${root}.tollgate/dynamodb`;
  mkdirSync(dataDir, { recursive: true });
  const database = await startDynamoDbLocal({ dataDir });
  const client = patientClient(database.endpoint);
  await ensureTable(client, TABLE);
  for (const instance of [INSTANCE, 'other.example.com']) {
    const jobId = instance === INSTANCE ? 1 : 2;
    const store = new DynamoStore({
      table: dynamoTable(client, TABLE),
      instance,
      clock: systemClock,
      random: Math.random,
    });
    const ledger = createLedger({ store });
    await ledger.announceOnce(['a rejection'], { ttlMs: 60_000, timeoutMs: 300_000 });
    await ledger.hold([anAsk(jobId, [claim('group/1', 10, 100)])], systemClock.monotonicMs() + 300_000);
  }
  const flags = { ledger: TABLE, instance: INSTANCE, endpoint: database.endpoint };
  const table = await openLedger(flags, { env: {}, root });
  expect(await jobsSeen(table)).toEqual([1]);
  await table.close();
  const missing = await openLedger({ ...flags, ledger: 'no-such-table' }, { env: {}, root });
  await expect(missing.store.readRecords([1], { timeoutMs: 300_000 })).rejects.toThrow(/no-such-table/);
  await missing.close();
  client.destroy();
  await database.stop();

  const local = await openLedger({}, { env: {}, root });
  expect(await jobsSeen(local)).toEqual([1]);
  await local.close();
});
