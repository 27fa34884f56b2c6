import { expect, test } from 'vitest';
import { HeadroomReader } from '../../../../functions/core/admission/limit-rooms.ts';
import { ROOMS_MAX } from '../../../../functions/core/contract/admissions.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { LimitClaim } from '../../../../policies/claim.ts';
import { claim } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const asking = (group: number, over: Partial<LimitClaim> = {}, bound = 10): LimitClaim =>
  claim(`group/${group}`, 1, bound, { outage: { policy: 'room' }, ...over });

function house() {
  const clock = manualClock();
  const read: number[] = [];
  const rooms = new HeadroomReader({
    ledger: {
      readCounters: async (keys) => {
        read.push(keys.length);
        const amounts = { committed: 4, fitted: 4, settled: 0, rev: 1 };
        const unchecked = { bypass: 0, exempt: 0, unmetered: 0 };
        return keys.map((key): Counter => ({ key, ...amounts, unchecked }));
      },
    },
    ...{ clock, log: silentLog },
  });
  const told = async (claims: readonly LimitClaim[]) => {
    const batch = rooms.batch();
    batch.look(claims);
    await Promise.resolve();
    await Promise.resolve();
    batch.held(claims);
    return batch.read();
  };
  return { clock, read, told };
}

test('a batch tells the rooms of all limits that it asks, in one read, and once a second', async () => {
  const { told, read, clock } = house();
  const claims = [asking(1), asking(2), asking(2), asking(3, { outage: { policy: 'room', periodMs: 5 } })];
  const rooms = await told(claims);
  expect(rooms.map(({ refusal: { reason } }) => 'subject' in reason && reason.subject)).toEqual([
    ...['group/1', 'group/2', 'group/3'],
  ]);
  expect(rooms.map(({ periodMs }) => periodMs)).toEqual([undefined, undefined, 5]);
  clock.advance(999);
  expect(await told(claims)).toEqual([]);
  expect(read).toEqual([3]);
  clock.advance(1);
  expect(await told(claims)).toHaveLength(3);
});

test('what binds nobody in an outage is not read', async () => {
  const { told, read } = house();
  const { bound: _, ...unbounded } = asking(1);
  const silent = [
    ...[asking(2, { mode: 'shadow' }), unbounded, asking(3, { outage: { policy: 'admit' } })],
    claim('group/4', 1, 10),
  ];
  expect(await told(silent)).toEqual([]);
  expect(read).toEqual([]);
  expect(await told([{ ...unbounded, neverFits: true }])).toHaveLength(1);
});

test('a batch tells no more rooms than the contract allows; the others come with the next', async () => {
  const { told } = house();
  const claims = Array.from({ length: ROOMS_MAX + 1 }, (_, at) => asking(at));
  expect(await told(claims)).toHaveLength(ROOMS_MAX);
  expect(await told(claims)).toHaveLength(1);
});

test('a limit with much left is read again after a hundredth of that was held, after an edit, and each minute', async () => {
  const { told, clock } = house();
  const wide = [asking(1, {}, 304)];
  expect(await told(wide)).toHaveLength(1);
  clock.advance(1_000);
  for (const rooms of [0, 0, 1]) expect(await told(wide)).toHaveLength(rooms);
  clock.advance(1_000);
  expect(await told([asking(1, {}, 500)])).toHaveLength(1);
  clock.advance(59_999);
  expect(await told([asking(1, {}, 500)])).toEqual([]);
  clock.advance(1);
  expect(await told([asking(1, {}, 500)])).toHaveLength(1);
});
