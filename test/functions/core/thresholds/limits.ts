import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import { counter } from '../../../support/ledger/asks.ts';

/** 500.00 a month on `group/1`, in Berlin. */
export const aLimit = (over: Partial<Limit> = {}): Limit => ({
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
