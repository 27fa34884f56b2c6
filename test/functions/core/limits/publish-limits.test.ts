import { expect, test } from 'vitest';
import type { LimitChange } from '../../../../functions/core/limits/limit-set.ts';
import {
  KEPT_DAYS,
  publishLimits,
  withRolloutTimes,
} from '../../../../functions/core/limits/publish-limits.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { type MemoryLimitTable, memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

const change = (over: Partial<LimitChange> = {}): LimitChange => ({
  actor: 'finance',
  why: 'new year',
  source: 'file limits.yaml',
  atMs: 1_000,
  ...over,
});
const money = (group: number, amount: number) => ({ on: { group }, money: amount, per: 'month' });
const deps = (table: MemoryLimitTable) => ({ table, policy: aPolicy(), directory: aDirectory });
const WAIT = { timeoutMs: 1_000 };

test('the set that was replaced goes in ninety days, and so does one that came too late; the live one stays', async () => {
  const table = memoryLimitTable();
  const publish = async (amount: number, base?: string) =>
    publishLimits(
      { limits: [money(100, amount)] },
      change({ ...(base !== undefined && { base }) }),
      deps(table),
    );
  const first = await publish(1);
  if (first.outcome !== 'live') throw new Error(first.outcome);
  expect([...table.retired.keys()]).toEqual([]);
  const flip = table.flip.bind(table);
  let mine: string | undefined;
  table.flip = async (to, base, options, entry) => {
    table.flip = flip;
    // Somebody else is faster.
    const other = await publish(3, first.pointer.set);
    if (other.outcome !== 'live') throw new Error(other.outcome);
    mine = to.set;
    return flip(to, base, options, entry);
  };
  expect((await publish(2, first.pointer.set)).outcome).toBe('stale');
  const live = await table.getPointer(WAIT);
  expect([...table.retired]).toEqual([
    [first.pointer.set, 1 + KEPT_DAYS * 86_400],
    [mine, 1 + KEPT_DAYS * 86_400],
  ]);
  expect(table.retired.has(live?.set ?? '')).toBe(false);
});

const BEFORE = '2026-11-01T00:00:00Z';
const NOW = '2026-11-21T12:00:00Z';

test.each([
  ['new', {}, { cost: 'warn' }, { cost: 'warn', cost_since: NOW }],
  [
    'another mode, whatever time a file says',
    { cost: 'shadow', cost_since: BEFORE },
    { cost: 'warn', cost_since: BEFORE },
    { cost: 'warn', cost_since: NOW },
  ],
  [
    'the same mode, from a file that leaves the time out',
    { cost: 'warn', cost_since: BEFORE },
    { cost: 'warn' },
    { cost: 'warn', cost_since: BEFORE },
  ],
  [
    'no mode any more',
    { cost: 'warn', cost_since: BEFORE, reported: BEFORE },
    { cost_since: BEFORE, reported: BEFORE },
    { reported: BEFORE },
  ],
])('a step begins when its mode becomes live: %s', (_, before, after, expected) => {
  for (const subject of [{ instance: true }, { group: 100 }, { project: 7 }]) {
    const live = someLimits({ rollout: Object.keys(before).length === 0 ? [] : [{ ...subject, ...before }] });
    const document = { limits: [], rollout: [{ ...subject, ...after }] };
    expect(withRolloutTimes(document, live, NOW_MS)).toEqual({
      limits: [],
      rollout: [{ ...subject, ...expected }],
    });
  }
});
