import { expect, test } from 'vitest';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import {
  expiresAtSeconds,
  expiring,
  isClosable,
  mayLackRecords,
  namelessFromMs,
  recordNamelessFromMs,
} from '../../../../functions/core/ledger/retention.ts';
import type { CounterReset } from '../../../../functions/core/ledger/store.ts';
import { overEverywhereMs } from '../../../../policies/limits/period.ts';
import { counter } from '../../../support/ledger/asks.ts';

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
const OVER_MS = overEverywhereMs('2026-11');
const MONTH = counter('group/1');
const USER = counter('user/5');
const WINDOW = counter('group/1', 'jobs-day', '2026-11-21');
const NOW = counter('group/1', 'slots', 'now');

const written = (key: CounterReset['key'], nowMs: number) => {
  const { expiresAtSeconds: expires, closeAtMs } = expiring({ kind: 'reset', key } as CounterReset, nowMs);
  return { expires, closeAtMs };
};

test('a month can be closed when its longest job has ended, other counters never', () => {
  expect(isClosable(MONTH, OVER_MS + 35 * DAY_MS)).toBe(true);
  expect(isClosable(MONTH, OVER_MS + 35 * DAY_MS - 1)).toBe(false);
  for (const key of [USER, WINDOW, NOW]) expect(isClosable(key, OVER_MS + 9_999 * DAY_MS)).toBe(false);
});

test('records of a month are sure to be there until ten days before they may go', () => {
  expect(mayLackRecords(MONTH, OVER_MS + 80 * DAY_MS - 1)).toBe(false);
  expect(mayLackRecords(MONTH, OVER_MS + 80 * DAY_MS)).toBe(true);
});

test('a user is named for ninety days after the period or the job', () => {
  expect(namelessFromMs(USER)).toBe(OVER_MS + 90 * DAY_MS);
  expect(namelessFromMs(NOW)).toBe(Number.NEGATIVE_INFINITY);
  const named = (times: Pick<JobRecord, 'endedAtMs' | 'decidedAtMs'>) =>
    recordNamelessFromMs(times as JobRecord);
  expect(named({ decidedAtMs: 5 })).toBe(Number.POSITIVE_INFINITY);
  expect(named({ decidedAtMs: 5, endedAtMs: 7 })).toBe(7 + 90 * DAY_MS);
  expect(named({ decidedAtMs: 9, endedAtMs: 7 })).toBe(9 + 90 * DAY_MS);
});

test('items expire at the first whole second after their time', () => {
  expect(expiresAtSeconds(1_500, [])).toBe(2 + 122 * DAY_SECONDS);
  expect(written(WINDOW, 1_500).expires).toBe(2 + 127 * DAY_SECONDS);
  expect(written(USER, 0).expires).toBe(OVER_MS / 1000 + 90 * DAY_SECONDS);
  const lateMs = OVER_MS + 200 * DAY_MS + 1;
  expect(written(USER, lateMs).expires).toBe(OVER_MS / 1000 + 290 * DAY_SECONDS + 1);
});

test('a month is due for closing when it can be closed, or an hour after a later write', () => {
  const fromMs = OVER_MS + 35 * DAY_MS;
  expect(written(MONTH, 0)).toEqual({ expires: undefined, closeAtMs: fromMs });
  expect(written(MONTH, fromMs).closeAtMs).toBe(fromMs + 3_600_000);
  expect(written(MONTH, fromMs + 0.5).closeAtMs).toBe(fromMs + 3_600_001);
  expect(written(NOW, 0)).toEqual({ expires: undefined, closeAtMs: undefined });
});
