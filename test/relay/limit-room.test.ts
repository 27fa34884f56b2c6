import { expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import {
  giveBack,
  type KnownRoom,
  knownRoom,
  noteBefore,
  SLOTS_MAX,
  spendRoom,
} from '../../relay/limit-room.ts';
import { quotaViolation } from '../support/relay/verdicts.ts';

/** Ten slots, of which so many were taken when it was told. */
function slots(committed: number): KnownRoom {
  const limit = { unit: 'jobs', limit: 'jobs-now', limitAmount: 10, committed } as const;
  const told: LimitRoom = {
    policy: 'room',
    refusal: quotaViolation('group/1', 'CONCURRENCY_FULL', limit),
  };
  return knownRoom(told, { tell: 1, askedAtMs: 1_000, toldAtMs: 1_000 });
}

test('of a job whose end was due when the room was told nothing comes back', () => {
  const room = slots(2);
  noteBefore(room, 1_000, 1);
  noteBefore(room, 1_001, 1);
  expect(room.beforeTotal).toBe(1);
});

test('a slot comes back at the estimated end of its job, not before', () => {
  const room = slots(1);
  noteBefore(room, 5_000, 1);
  giveBack(room, 4_999, 1);
  expect(room.returned).toBe(0);
  giveBack(room, 5_000, 1);
  expect(room.returned).toBe(1);
});

test('of more slots than are waited for the earliest are taken to be free', () => {
  const room = slots(0);
  for (let at = 0; at < SLOTS_MAX; at += 1) spendRoom(room, 1, at);
  expect([room.spent, room.slots[0]?.endsMs]).toEqual([SLOTS_MAX, 0]);
  spendRoom(room, 1, SLOTS_MAX);
  expect([room.spent, room.slots[0]?.endsMs]).toEqual([SLOTS_MAX, 1]);
});
