import { expect, test } from 'vitest';
import type { Action, Plan } from './plan.ts';
import { run } from './run.ts';

const job = {
  projectId: 1002,
  runnerClass: 'small',
  runnerId: 1,
  timeoutSeconds: 3_600,
  runsAnyway: false,
  withoutDuration: false,
} as const;

test('a hold that falls due while a sweep runs is not given up on the 404 of a token that sees nothing', async () => {
  const plan: Omit<Plan, 'seed'> = {
    startMs: Date.UTC(2026, 10, 20, 12),
    jobs: [job],
    actions: [
      { do: 'ask', relay: 0, jobs: [0], leftMs: 2_000, heard: true, fallback: 'admitted', dieAfter: null },
      { do: 'token', sees: false },
      { do: 'advance', by: 601 },
      {
        do: 'together',
        actions: [
          { do: 'sweep', by: 0, dieAfter: null },
          { do: 'advance', by: 5_001 },
        ],
      },
    ],
    faults: [],
    chargeUnknown: 'nothing',
    lastHooks: 'are lost',
  };
  // The order of steps is the seed's: in some of them the time passes between the parts of the sweep.
  for (let seed = 0; seed < 50; seed += 1) {
    const { books } = await run({ ...plan, seed });
    expect(books.records.get(1)?.state).toBe('RELEASED');
  }
});

test.each([{ asksAgain: true }, { asksAgain: false }])(
  'a retry reserves a limit that the rejected job did not ask, and returns it (asks again: $asksAgain)',
  async ({ asksAgain }) => {
    const ask: Action = {
      ...{ do: 'ask', relay: 0, jobs: [0], leftMs: 2_000 },
      ...{ heard: true, fallback: 'admitted', dieAfter: null },
    };
    const { books, store } = await run({
      startMs: Date.UTC(2026, 9, 31, 22, 20),
      seed: 1,
      jobs: [job],
      actions: [
        { do: 'limit', limit: 0, tenths: 0 },
        { do: 'limit', limit: 10, tenths: 'unlimited' },
        ask,
        { do: 'limit', limit: 10, tenths: 10 },
        { do: 'retry', job: 0, keptMinutes: 3, dieAfter: null },
        ...(asksAgain ? [ask] : []),
      ],
      faults: [],
      chargeUnknown: 'hold',
      lastHooks: 'arrive',
    });
    const names = books.records.get(1)?.claims.map(({ counter }) => `${counter.subject} ${counter.limit}`);
    expect(names?.at(-1)).toBe('instance jobs-now');
    expect(books.records.get(2)?.state).toBe(asksAgain ? 'REJECTED' : 'RELEASED');
    for (const item of store.dump()) if (item.kind === 'counter') expect(item.counter.committed).toBe(0);
  },
);
