import { expect, test } from 'vitest';
import { itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { TimeLimit } from '../../../../functions/core/store/operation.ts';
import { openTableAccess } from '../../../../scripts/cli/open-ledger.ts';
import { aProject, runDesk } from '../desk-run.ts';

const INSTANCE = 'gitlab.example.com';

async function retired(...args: readonly string[]) {
  const table = new MemoryTable();
  const put = (pk: string, sk: string, attributes: Parameters<typeof itemAt>[1]) =>
    putItem(table, itemAt({ pk: `${INSTANCE}${pk}`, sk }, attributes), new TimeLimit(1_000));
  const plan = (id: string, more: object) =>
    put('@limits#plans', id, {
      b: { B: Buffer.from(JSON.stringify({ id, from: '2027-01-01', by: 'fritz', ...more })) },
    });
  const empty = args.includes('--empty');
  if (!empty) {
    await plan('p-1', { name: 'Year 2027', amounts: [{}, {}], request: 'r-7' });
    await plan('p-2', { name: 'Gone', amounts: [], discarded: true });
    await put('@limits#plans', 'p-3', { b: { B: Buffer.from('damaged') } });
    await put('@views', 'everybody', { vi: { S: '[{"name":"Projects","query":"kind=project"}]' } });
    await put('@views', 'user/12', { vi: { S: '[{"name":"Mine","query":""}]' } });
  }
  const open = async () => ({ table, instance: INSTANCE, description: '', close: async () => {} });
  const words = ['limits', 'retired', ...args.filter((arg) => arg !== '--empty')];
  return runDesk(words, aProject(), { standIns: new Map([[openTableAccess, open]]) });
}

test('an upgrade lists plans and views that are left, with whom they belong to', async () => {
  expect((await retired()).out.trim().split('\n')).toEqual([
    'plan "Year 2027" from 2027-01-01 by fritz: 2 limits, adopted by request r-7',
    'view "Projects" of everybody: /budgets?kind=project',
    'view "Mine" of user/12: /budgets?',
  ]);
  expect(JSON.parse((await retired('--json')).out)).toMatchObject({
    plans: [{ name: 'Year 2027', by: 'fritz', limits: 2 }],
    views: [{ owner: 'everybody', name: 'Projects' }, { owner: 'user/12' }],
  });
});
