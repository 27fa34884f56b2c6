import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { Transition } from '../../../../functions/core/thresholds/crossings.ts';
import type { WatchedLimit } from '../../../../functions/core/thresholds/level.ts';
import { counter } from '../../../support/ledger/asks.ts';

/** 500.00 a month on `group/1`, in Berlin. */
export const aLimit = (over: Partial<WatchedLimit> = {}): WatchedLimit => ({
  id: 'money-month',
  subject: 'group/1',
  kind: 'money',
  unit: 'micros',
  amount: 500_000_000,
  per: 'month',
  zone: 'Europe/Berlin',
  mode: 'enforce',
  ...over,
});

export const aCounter = (settled: number, committed: number, key = counter('group/1')): Counter => ({
  key,
  committed,
  fitted: committed,
  settled,
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
  rev: 1,
});

/** From (spent, committed) to (spent, committed). */
export const step = (
  from: readonly [number, number],
  to: readonly [number, number],
  key = counter('group/1'),
): Transition => ({ before: aCounter(...from, key), after: aCounter(...to, key) });
