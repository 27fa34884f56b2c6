import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import type { RecountOutcome } from '../../../../functions/core/ledger/checkpoints.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const drift = (subject: string, beyond: number): RecountOutcome['drifting'][number] => ({
  key: { subject, limit: 'money-month', period: '2026-11' },
  ...{ committed: 5_000_000 + beyond, recounted: 5_000_000 },
});

async function badge(outcome: RecountOutcome | undefined, who: keyof typeof USERS = 'finance') {
  const house = consoleHouse();
  await house.apply(LIMITS);
  let reads = 0;
  const read = createConsoleRead({
    ...house.deps,
    recounts: {
      read: async () => {
        reads += 1;
        return outcome;
      },
    },
  });
  const first = await read.reconciliation(USERS[who]);
  expect(await read.reconciliation(USERS[who])).toEqual(first);
  expect(reads).toBe(1);
  house.clock.advance(60_000);
  await read.reconciliation(USERS[who]);
  expect(reads).toBe(2);
  return first;
}

const at = { recountedAtMs: NOVEMBER_21_MS, unlisted: 0 };

test('without a recount it says that nobody has checked, never that all is well', async () => {
  expect(await badge(undefined)).toMatchObject({ state: 'unchecked', differing: [] });
});

test('books that agree say since when', async () => {
  expect(await badge({ ...at, drifting: [] })).toMatchObject({
    ...{ state: 'agrees', checkedAtMs: NOVEMBER_21_MS },
    text: expect.stringMatching(/^Counters = statements, checked .*2026/),
  });
});

test.each([
  {
    usage: { jobs: 40, mended: 0, failed: 0 },
    says: /^Counters = usage = statements, checked [^.]*2026[^.]*\.$/,
  },
  {
    usage: { jobs: 40, mended: 3, failed: 0 },
    says: /^Counters = usage = statements, .*/,
  },
  {
    usage: { jobs: 40, mended: 0, failed: 1 },
    says: /^Counters = statements, .*/,
  },
])('usage is in it where its jobs were looked at: $usage', async ({ usage, says }) => {
  const told = await badge({ ...at, drifting: [], usage });
  expect(told).toMatchObject({ state: 'agrees', usage });
  expect(told.text).toMatch(says);
});

test('who sees one group is not told how many jobs the whole GitLab has', async () => {
  const told = await badge({ ...at, drifting: [], usage: { jobs: 40, mended: 3, failed: 0 } }, 'viewer');
  expect(told.usage).toBeUndefined();
  expect(told.text).toMatch(/^Counters = usage = statements, checked [^.]*\.$/);
});

test('a counter that differs is named, with by how much', async () => {
  expect(
    await badge({ ...at, drifting: [drift('group/101', 1_200_000), drift('group/200', -1)] }),
  ).toMatchObject({
    ...{
      state: 'differs',
      unlisted: 0,
      differing: [{ path: 'acme/payments', beyond: 1_200_000 }, { beyond: -1 }],
    },
    text: expect.stringMatching(/^2 counters differ/),
  });
});

test('a reader is told of the counters they see, and no name of another', async () => {
  const told = await badge({ ...at, drifting: [drift('group/200', 5)] }, 'viewer');
  expect(told).toMatchObject({ state: 'agrees', differing: [] });
  expect(JSON.stringify(told)).not.toMatch(/beta|200"/);
});

test('where more differ than are listed nobody is told that all is well', async () => {
  expect(await badge({ ...at, drifting: [drift('group/200', 5)], unlisted: 3 }, 'viewer')).toMatchObject({
    ...{ state: 'differs', differing: [], unlisted: 3 },
  });
});
