import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { type LedgerAccess, openLedger } from '../../../../scripts/cli/open-ledger.ts';
import { openOwnTable } from '../../../../scripts/local/ledger-folder.ts';
import { ledgerFolder } from '../../../../scripts/local/ledger-note.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { aProject, runDesk } from '../desk-run.ts';

const TABLE = 'open-ledger';
const INSTANCE = 'gitlab.local';

async function jobsSeen({ store }: LedgerAccess): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const item of store.scan()) if (item.kind === 'record') found.push(item.record.jobId);
  expect((await store.readRecords([1], { timeoutMs: 300_000 }))[0]?.state).toBe('HELD');
  return found;
}

const local = localTable(TABLE);

async function holdIn(table: ItemTable, instance: string, jobId: number): Promise<void> {
  const store = new DynamoStore({ table, instance, clock: systemClock, random: Math.random });
  const ledger = createLedger({ store });
  await ledger.announceOnce(['a rejection'], { ttlMs: 60_000, timeoutMs: 300_000 });
  await ledger.hold([anAsk(jobId, [claim('group/1', 10, 100)])], systemClock.monotonicMs() + 300_000);
}

test('the desk reads a table by its name, and only the instance it asks for', async () => {
  for (const [jobId, instance] of [INSTANCE, 'other.example.com'].entries())
    await holdIn(dynamoTable(local.client, TABLE), instance, jobId + 1);
  const flags = { ledger: TABLE, instance: INSTANCE, endpoint: local.endpoint };
  const table = await openLedger(flags, { env: {}, root: '/' });
  expect(await jobsSeen(table)).toEqual([1]);
  await table.close();
  const missing = await openLedger({ ...flags, ledger: 'no-such-table' }, { env: {}, root: '/' });
  await expect(missing.store.readRecords([1], { timeoutMs: 300_000 })).rejects.toThrow(/no-such-table/);
  await missing.close();
});

test('the desk reads and writes the ledger of npm start, while that runs and afterwards', async () => {
  const root = aProject({
    'policies/policy.yaml': JSON.stringify(policyDocument()),
    'policies/directory.yaml': JSON.stringify({ groups: [{ id: 100, path: 'acme' }] }),
    'policies/limits.yaml': JSON.stringify({ limits: [{ on: { group: 100 }, money: 40, per: 'once' }] }),
    'limits.yaml': JSON.stringify({ limits: [{ on: { group: 100 }, money: 50, per: 'once' }] }),
  });
  await expect(openLedger({}, { env: {}, root })).rejects.toThrow(/is not there: npm start makes it/);
  const own = openOwnTable(ledgerFolder(root), false);
  for (const [jobId, instance] of [INSTANCE, 'other.example.com'].entries())
    await holdIn(own.table, instance, jobId + 1);
  const running = await openLedger({}, { env: {}, root });
  expect(await jobsSeen(running)).toEqual([1]);
  await running.close();
  // The first limits this ledger has are there for whoever asks next.
  expect(await runDesk(['limits', 'publish', 'limits.yaml', '--why', 'first'], root)).toMatchObject({
    code: 0,
  });
  expect(await runDesk(['budget', 'ls'], root)).toMatchObject({
    err: '',
    out: expect.stringMatching(/acme +50\.00 EUR\/once/),
  });
  own.close();
  expect(await runDesk(['budget', 'ls'], root)).toMatchObject({
    err: '',
    out: expect.stringMatching(/acme +50\.00 EUR\/once/),
  });
  const left = await openLedger({}, { env: {}, root });
  expect(await jobsSeen(left)).toEqual([1]);
  await left.close();
});
