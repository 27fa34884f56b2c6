import { expect, test } from 'vitest';
import { attempt, RetryBudgets } from '../../../../functions/core/ledger/attempt.ts';
import type { CounterWrite, TransactOutcome } from '../../../../functions/core/ledger/store.ts';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
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

const on = (subject: string): CounterWrite => ({
  kind: 'counter',
  key: counter(subject),
  committed: 1,
  fitted: 1,
  settled: 0,
  unchecked: {},
});
const writes = [on('instance')];

/** How many tries of one process for an item fit into a second of nothing but lost races. */
function triesIn(ms: number, clock = handClock(), budgets = new RetryBudgets(clock)): number {
  const untilMs = clock.monotonicMs() + ms;
  let tries = 0;
  while (clock.monotonicMs() < untilMs) {
    const { atLeastMs, jitterMs } = budgets.take(writes, 3);
    clock.advance(2 + atLeastMs + jitterMs / 2);
    tries += 1;
  }
  return tries;
}

test('where nothing commits, tries come down to 25 a second, however long it lasts', () => {
  const clock = handClock();
  const budgets = new RetryBudgets(clock);
  triesIn(2_000, clock, budgets);
  const later = triesIn(10_000, clock, budgets);
  expect(later).toBeGreaterThan(100);
  expect(later).toBeLessThanOrEqual(260);
});
