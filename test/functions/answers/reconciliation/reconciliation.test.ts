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

test.each<[string, RecountOutcome | undefined, keyof typeof USERS, object, RegExp]>([
  ['without a recount', undefined, 'finance', { state: 'unchecked', differing: [] }, /^Not recounted/],
  [
    'of counters alone',
    { ...at, drifting: [] },
    ...(['finance', { state: 'agrees', checkedAtMs: NOVEMBER_21_MS }] as const),
    /^All counters agree with the statements, checked [^.]*2026[^.]*\.$/,
  ],
  [
    'of usage, too',
    { ...at, drifting: [], usage: { jobs: 40, mended: 3, failed: 0 } },
    ...(['finance', { state: 'agrees', usage: { jobs: 40, mended: 3, failed: 0 } }] as const),
    /^All counters agree with usage and statements, .*/,
  ],
  [
    'of usage that could not be compared',
    { ...at, drifting: [], usage: { jobs: 40, mended: 0, failed: 1 } },
    ...(['finance', { state: 'agrees' }] as const),
    /^All counters agree with the statements, .*/,
  ],
  [
    'of all jobs, for a member of one group',
    { ...at, drifting: [], usage: { jobs: 40, mended: 3, failed: 0 } },
    ...(['viewer', { state: 'agrees' }] as const),
    /^All counters agree with usage and statements, checked [^.]*\.$/,
  ],
  [
    'of two counters that differ',
    { ...at, drifting: [drift('group/101', 1_200_000), drift('group/200', -1)] },
    'finance',
    {
      ...{ state: 'differs', unlisted: 0 },
      differing: [{ path: 'acme/payments', beyond: 1_200_000 }, { beyond: -1 }],
    },
    /^2 counters differ/,
  ],
  [
    'of a counter of others',
    { ...at, drifting: [drift('group/200', 5)] },
    ...(['viewer', { state: 'agrees', differing: [] }] as const),
    /^All counters agree with the statements/,
  ],
  [
    'of more counters than are listed',
    { ...at, drifting: [drift('group/200', 5)], unlisted: 3 },
    ...(['viewer', { state: 'differs', differing: [], unlisted: 3 }] as const),
    /^3 counters differ/,
  ],
])('the recount says what it found: %s', async (_, outcome, who, expected, says) => {
  const found = await badge(outcome, who);
  expect(found).toMatchObject(expected);
  expect(found.text).toMatch(says);
  if (who === 'viewer') expect(JSON.stringify(found)).not.toMatch(/beta|200"|usage":/);
});
