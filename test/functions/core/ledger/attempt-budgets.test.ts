import { expect, test } from 'vitest';
import { RetryBudgets } from '../../../../functions/core/ledger/attempt.ts';
import type { CounterWrite } from '../../../../functions/core/ledger/store.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
import { counter } from '../../../support/ledger/asks.ts';

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

test('a race lost is run again within milliseconds, and the sooner the more were lost', () => {
  const budgets = new RetryBudgets(handClock());
  const pauses = [1, 2, 3, 4, 5, 6].map((tries) => budgets.take(writes, tries));
  expect(pauses.map(({ jitterMs }) => jitterMs)).toEqual([18, 9, 6, 4.5, 4, 4]);
  expect(pauses.every(({ atLeastMs }) => atLeastMs === 0)).toBe(true);
});

test('half of what was saved is still luck; what is more is a crowd', () => {
  const budgets = new RetryBudgets(handClock());
  const pauses = Array.from({ length: 20 }, () => budgets.take(writes, 3).jitterMs);
  expect(pauses).toEqual([...Array.from({ length: 19 }, () => 6), 30]);
});

test('where nothing commits, tries come down to 25 a second, however long it lasts', () => {
  const clock = handClock();
  const budgets = new RetryBudgets(clock);
  triesIn(2_000, clock, budgets);
  const later = triesIn(10_000, clock, budgets);
  expect(later).toBeGreaterThan(100);
  expect(later).toBeLessThanOrEqual(260);
});

test('each commit pays for four tries, so that few rivals never wait long', () => {
  const clock = handClock();
  const budgets = new RetryBudgets(clock);
  for (let round = 0; round < 100; round += 1) {
    for (let lost = 0; lost < 4; lost += 1) expect(budgets.take(writes, 3).jitterMs).toBe(6);
    budgets.committed(writes);
  }
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  expect(budgets.take(writes, 3)).toMatchObject({ atLeastMs: expect.any(Number), jitterMs: 30 });
});

test('one crowded item makes the others wait no longer, unless they share its transaction', () => {
  const budgets = new RetryBudgets(handClock());
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  expect(budgets.take([on('group/1')], 3)).toEqual({ atLeastMs: 0, jitterMs: 6 });
  expect(budgets.take([on('group/1'), ...writes], 3).atLeastMs).toBeGreaterThan(0);
});

test('a commit of something else gives nothing back', () => {
  const budgets = new RetryBudgets(handClock());
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  const { atLeastMs } = budgets.take(writes, 3);
  for (let index = 0; index < 20; index += 1) budgets.committed([on('group/1')]);
  expect(budgets.take(writes, 3).atLeastMs).toBeGreaterThanOrEqual(atLeastMs);
  for (let index = 0; index < 30; index += 1) budgets.committed(writes);
  expect(budgets.take(writes, 3)).toEqual({ atLeastMs: 0, jitterMs: 6 });
});

test('what was lost long ago is forgotten', () => {
  const clock = handClock();
  const budgets = new RetryBudgets(clock);
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  clock.advance(10_000);
  expect(budgets.take(writes, 3)).toEqual({ atLeastMs: 0, jitterMs: 6 });
});

test('what is owed is bounded, and so is what is saved', () => {
  const clock = handClock();
  const budgets = new RetryBudgets(clock);
  for (let lost = 0; lost < 500; lost += 1) budgets.take(writes, 3);
  expect(budgets.take(writes, 3).atLeastMs).toBe(1_600);
  for (let index = 0; index < 100; index += 1) budgets.committed(writes);
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  expect(budgets.take(writes, 3).atLeastMs).toBeGreaterThan(0);
  clock.advance(1_000_000);
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  expect(budgets.take(writes, 3).atLeastMs).toBeGreaterThan(0);
});

test('the most crowded of several items tells how long to wait, wherever it stands', () => {
  const budgets = new RetryBudgets(handClock());
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  expect(budgets.take([...writes, on('group/1')], 3).atLeastMs).toBeGreaterThan(0);
});

test('a thousand items are remembered', () => {
  const budgets = new RetryBudgets(handClock());
  for (let lost = 0; lost < 60; lost += 1) budgets.take(writes, 3);
  for (let index = 0; index < 1_000; index += 1) budgets.take([on(`group/${index}`)], 3);
  expect(budgets.take(writes, 3)).toEqual({ atLeastMs: 0, jitterMs: 6 });
});
