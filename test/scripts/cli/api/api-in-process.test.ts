import { expect, test } from 'vitest';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { openToEdit } from '../../../../scripts/cli/open-ledger.ts';
import { budgetBench } from '../budget/budget-bench.ts';

test('a table that does not answer is told in its own words, not in those the API has for strangers', async () => {
  const { open, run } = await budgetBench();
  const broken = async () => {
    const tables = await open();
    const readCounters = () => Promise.reject(new LedgerError('ledger_unavailable', 'credentials expired'));
    return { ...tables, store: { ...tables.store, readCounters } };
  };
  expect(await run('budget ls', [], {}, [[openToEdit, broken]])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('credentials expired'),
  });
});
