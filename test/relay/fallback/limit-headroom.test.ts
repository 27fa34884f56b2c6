import { expect, test } from 'vitest';
import {
  giveBack,
  headroomOf,
  type LimitHeadroom,
  noteEarlier,
  SLOTS_MAX,
  spend,
} from '../../../relay/fallback/limit-headroom.ts';
import { quotaViolation } from '../../support/relay/verdicts.ts';

/** Ten slots, of which `committed` were taken at the report. */
function slots(committed: number): LimitHeadroom {
  const limit = { unit: 'jobs', limit: 'jobs-now', limitAmount: 10, committed } as const;
  const refusal = quotaViolation('group/1', 'CONCURRENCY_FULL', limit);
  return headroomOf({ policy: 'room', refusal }, { report: 1, sentAtMs: 1_000, reportedAtMs: 1_000 });
}

test('a job whose end was due at the report gives nothing back', () => {
  const headroom = slots(2);
  noteEarlier(headroom, 1_000, 1);
  noteEarlier(headroom, 1_001, 1);
  expect(headroom.earlierTotal).toBe(1);
});

test('a slot comes back at the estimated end of its job, not before', () => {
  const headroom = slots(1);
  noteEarlier(headroom, 5_000, 1);
  giveBack(headroom, 4_999, 1);
  expect(headroom.returned).toBe(0);
  giveBack(headroom, 5_000, 1);
  expect(headroom.returned).toBe(1);
});

test('beyond the bound of running jobs the earliest count as ended', () => {
  const headroom = slots(0);
  for (let at = 0; at < SLOTS_MAX; at += 1) spend(headroom, 1, at);
  expect([headroom.spent, headroom.slots[0]?.endsMs]).toEqual([SLOTS_MAX, 0]);
  spend(headroom, 1, SLOTS_MAX);
  expect([headroom.spent, headroom.slots[0]?.endsMs]).toEqual([SLOTS_MAX, 1]);
});
