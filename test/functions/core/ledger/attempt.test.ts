import { expect, test } from 'vitest';
import { attempt, RetryBudgets, TRANSACTION_RESERVE_MS } from '../../../../functions/core/ledger/attempt.ts';
import type { CounterWrite, TransactOutcome } from '../../../../functions/core/ledger/store.ts';
import { LedgerError } from '../../../../functions/core/store/index.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const write: CounterWrite = {
  ...{ kind: 'counter', key: counter('group/1') },
  ...{ committed: 1, fitted: 1, settled: 0, unchecked: {} },
};

/** A table that says these, and then the last of them for ever. */
function house(answers: readonly (() => TransactOutcome)[]) {
  const clock = manualClock();
  let asked = 0;
  const store = {
    transact: async (): Promise<TransactOutcome> => {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer === undefined) throw new Error('this table says nothing');
      return answer();
    },
  };
  const deps = { store, clock, random: () => 0, newToken: () => 'token', isUrgent: true };
  return { clock, deps, asked: () => asked };
}

const conflict = (): TransactOutcome => ({ outcome: 'conflict', contended: [0] });
const committed = (): TransactOutcome => ({ outcome: 'committed' });

test('where time stands still, a transaction is tried forty times and no more', async () => {
  const { deps, asked } = house([conflict]);
  class NoPauses extends RetryBudgets {
    override take() {
      return { atLeastMs: 0, jitterMs: 0 };
    }
  }
  const budgets = new NoPauses(deps.clock);
  expect(await attempt([write], 60_000, { ...deps, budgets })).toEqual({
    outcome: 'gave_up',
    cause: 'contended',
  });
  expect(asked()).toBe(40);
});

test('a race lost is run again as long as the next try has the time that a transaction takes', async () => {
  const { deps, asked } = house([conflict, committed]);
  expect(await attempt([write], TRANSACTION_RESERVE_MS, deps)).toEqual({ outcome: 'committed' });
  expect(asked()).toBe(2);
});

test('a table that answers with a fault of another kind is no silent table', async () => {
  const broken = new LedgerError('ledger_misuse', 'asked for what no retry makes right');
  const { deps, asked } = house([
    () => {
      throw broken;
    },
  ]);
  await expect(attempt([write], 60_000, deps)).rejects.toBe(broken);
  expect(asked()).toBe(1);
});
