/** What the ledger makes of clocks that differ, and of a claim that fits no bound at all. */
import { expect, test } from 'vitest';
import { answerFromRecord, REJECTION_STANDS_MS } from '../../../../functions/core/ledger/hold-job.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { bypassMove, unmeteredMove } from '../../../../functions/core/ledger/settle.ts';
import { anAsk, blocked, claim } from '../../../support/ledger/asks.ts';

const NOW_MS = 1_000_000_000;

const told = (answeredAtMs: number, answered: 'admitted' | 'rejected', neverFits = false) =>
  unmeteredMove(
    undefined,
    {
      ...anAsk(1, [claim('group/1', 10, undefined, neverFits ? { neverFits: true } : {})]),
      answered,
      cause: 'deadline',
      answeredAtMs,
    },
    NOW_MS,
  );

test('a rejection from a clock that is ahead stands as long as one from the past, and no longer', () => {
  const rejected = told(NOW_MS, 'rejected').record as JobRecord;
  const standsAt = (decidedAtMs: number): boolean =>
    answerFromRecord({ ...rejected, violations: [blocked], decidedAtMs }, NOW_MS) !== undefined;
  expect(standsAt(NOW_MS + REJECTION_STANDS_MS - 1)).toBe(true);
  expect(standsAt(NOW_MS + REJECTION_STANDS_MS)).toBe(false);
  expect(standsAt(NOW_MS - REJECTION_STANDS_MS + 1)).toBe(true);
  expect(standsAt(NOW_MS - REJECTION_STANDS_MS)).toBe(false);
});

test.each(['admitted', 'rejected'] as const)(
  'an answer from the future, %s, was given now at the latest',
  (answered) => {
    expect(told(NOW_MS + 5, answered).record?.decidedAtMs).toBe(NOW_MS);
    expect(told(NOW_MS - 5, answered).record?.decidedAtMs).toBe(NOW_MS - 5);
  },
);

test('what fits no bound counts in committed alone', () => {
  const amounts = (neverFits: boolean) =>
    told(NOW_MS, 'admitted', neverFits).changes.map(({ write }) => [write.committed, write.fitted]);
  expect(amounts(true)).toEqual([[10, 0]]);
  expect(amounts(false)).toEqual([[10, 10]]);
});

test('a job nobody asked about that starts in the future is decided now', () => {
  const ask = { ...anAsk(1, [claim('group/1', 10)]), durationSeconds: 10 };
  const decidedAtMs = (endedAtMs: number) =>
    bypassMove(undefined, { ...ask, endedAtMs }, NOW_MS).record?.decidedAtMs;
  expect(decidedAtMs(NOW_MS + 60_000)).toBe(NOW_MS);
  expect(decidedAtMs(NOW_MS)).toBe(NOW_MS - 10_000);
});
