import { expect, test } from 'vitest';
import { deadlineOf, localDeadline } from '../../../scripts/local/local-deadline.ts';

test.each([
  [0.1, 10_000, 'a fast machine'],
  [40, 20_000, 'a slow one'],
  [5_000, 120_000, 'and one that hardly moves'],
])('a ledger %s ms away: a question may take %s ms on %s', (roundTripMs, deadlineMs) => {
  expect(deadlineOf(roundTripMs)).toMatchObject({ deadlineMs });
});

test('the machine is measured on the ledger itself, and people are told', async () => {
  let reads = 0;
  const told = await localDeadline({
    readRecords: async () => {
      reads += 1;
      return [];
    },
  });
  expect(reads).toBeGreaterThan(1);
  expect(told.text).toMatch(
    /^10 s a question, then the fallback; the ledger is [\d.]+ ms away on this machine$/,
  );
});
