import { expect, test } from 'vitest';
import { countersNow } from '../../../../functions/answers/reading/counters-now.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { CounterKey } from '../../../../policies/claim.ts';

const HOUR_MS = 3_600_000;

function counting() {
  let nowMs = 0;
  let built = 0;
  const read: CounterKey[] = [];
  const key = (group: number): CounterKey => ({
    get subject() {
      built += 1;
      return `group/${group}`;
    },
    limit: 'money-month',
    period: '2026-11',
  });
  const ledger = {
    readCounters: async (keys: readonly CounterKey[]): Promise<readonly Counter[]> => {
      read.push(...keys);
      return keys.map((each) => ({ key: each, committed: read.length }) as Counter);
    },
  };
  const now = countersNow(ledger, { nowMs: () => nowMs });
  return {
    now,
    key,
    read,
    wait: (ms: number): void => {
      nowMs += ms;
    },
    /** Names built since it was asked the last time. */
    names: (): number => {
      const since = built;
      built = 0;
      return since;
    },
  };
}

test('a counter that was read lately costs one name, and no read', async () => {
  const { now, key, read, names } = counting();
  const keys = Array.from({ length: 50 }, (_, group) => key(group));
  await now.recent(keys, HOUR_MS);
  names();
  const { counters } = await now.recent(keys, HOUR_MS);
  expect(names()).toBe(50);
  expect([counters.size, read.length]).toEqual([50, 50]);
});

test('what was read too long ago is read again, and the rest says since when it stands', async () => {
  const { now, key, read, wait } = counting();
  await now.recent([key(1)], HOUR_MS);
  wait(HOUR_MS - 1);
  await now.recent([key(2)], HOUR_MS);
  const { sinceMs } = await now.recent([key(1), key(2)], HOUR_MS);
  expect([read.length, sinceMs]).toEqual([2, 0]);
  wait(1);
  const again = await now.recent([key(1), key(2)], HOUR_MS);
  expect([read.length, again.sinceMs]).toEqual([3, HOUR_MS - 1]);
  expect([...again.counters.values()].map(({ committed }) => committed)).toEqual([2, 3]);
});
