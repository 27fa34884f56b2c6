import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { aProject, runDesk } from '../desk-run.ts';

const TABLE = 'tollgate-budget';
const INSTANCE = 'gitlab.example.com';
const local = localTable(TABLE);

test('on a real table: begin, list, edit, export, import, go stale, and see the jobs that hold', async () => {
  const root = aProject({
    'policies/policy.yaml': JSON.stringify(policyDocument()),
    'policies/directory.yaml': JSON.stringify({ groups: [{ id: 100, path: 'acme' }] }),
    'policies/limits.yaml': JSON.stringify({ limits: [{ on: { group: 100 }, money: 50, per: 'once' }] }),
  });
  const parts = {
    table: dynamoTable(local.client, TABLE),
    instance: INSTANCE,
    clock: systemClock,
    random: Math.random,
  };
  const ledger = createLedger({ store: new DynamoStore(parts) });
  const ask = anAsk(1, [claim('group/100', 10_000_000, 50_000_000)]);
  await ledger.hold([ask], systemClock.monotonicMs() + 300_000);

  const flags = ['--ledger', TABLE, '--instance', INSTANCE, '--endpoint', local.endpoint];
  const run = (...args: string[]) =>
    runDesk([...args, ...flags], root, { nowMs: systemClock.nowMs, columns: 120 });
  const edit = (amount: string, ...more: string[]) =>
    run('budget', 'set', 'acme', amount, '--reason', 'x', '--actor', 'ann', ...more);

  expect((await edit('60')).code).toBe(1);
  expect(await edit('60', '--base', 'none')).toMatchObject({ code: 0, err: '' });
  expect((await run('budget', 'ls')).out).toMatch(/acme +60\.00 EUR\/once/);
  expect((await run('budget', 'export', '--out', 'limits.csv')).code).toBe(0);
  expect(await run('budget', 'import', 'limits.csv')).toMatchObject({ code: 0, err: '' });
  await edit('70');
  const late = await run('budget', 'import', 'limits.csv', '--apply', '--reason', 'x', '--actor', 'bob');
  expect(late.code).toBe(2);
  expect(late.err).toContain('ann, from cli: x');
  const { edits } = JSON.parse((await run('budget', 'history', 'acme', '--json')).out);
  expect(edits.map(({ actor }: { actor: string }) => actor)).toEqual(['ann', 'ann']);
  const { jobs } = JSON.parse((await run('reservations', 'ls', '--json')).out);
  expect(jobs).toMatchObject([{ jobId: 1, state: 'HELD' }]);
});
